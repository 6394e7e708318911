package greenbutton

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Codes of ESPI (espiDerived.xsd).
const (
	unitWattHours = 72
	directionOut  = 19 // reverse: from the home to the grid
	deltaData     = 4  // the energy of the interval, not a meter's count
	categoryPower = 0  // service category: electricity
)

// These limits bound a file. The readings are 28 years of quarter hours.
const (
	maxReadings   = 1_000_000
	maxSummaries  = 1000
	maxMultiplier = 12
)

// entry is the part of an Atom entry that matters here.
type entry struct {
	links []link
	// leaves has the texts of the entry's elements by the names of their parent and
	// themselves, such as ReadingType/uom. has names the elements with parts.
	leaves map[string]string
	has    map[string]bool
	// readings holds the readings of the entry's interval blocks.
	readings []reading
}

type link struct{ rel, href string }

const noValue = math.MinInt64

var emptyReading = reading{duration: -1, value: noValue}

type reading struct {
	start    int64 // Unix seconds
	duration int64 // seconds
	value    int64
}

// readingType is the unit and the meaning of readings.
type readingType struct{ unit, multiplier, direction, accumulation int64 }

// difference returns the first element in which two types differ, with both values.
func (t *readingType) difference(other *readingType) string {
	for _, e := range []struct {
		name string
		a, b int64
	}{
		{"uom", t.unit, other.unit}, {"powerOfTenMultiplier", t.multiplier, other.multiplier},
		{"flowDirection", t.direction, other.direction}, {"accumulationBehaviour", t.accumulation, other.accumulation},
	} {
		if e.a != e.b {
			return fmt.Sprintf("%s %d and %d", e.name, e.a, e.b)
		}
	}
	return ""
}

// summary is the utility's total of a billing period.
type summary struct {
	start, end int64 // Unix seconds
	kwh        float64
}

// link returns the first link of a relation whose address has a part, "" if there is none.
func (e *entry) link(rel, part string) string {
	for _, l := range e.links {
		if l.rel == rel && strings.Contains(l.href, part) {
			return l.href
		}
	}
	return ""
}

// number returns the number of an element, 0 if there is none. It adds its error to err.
func (e *entry) number(path string, err *error) int64 {
	text, ok := e.leaves[path]
	if !ok {
		return 0
	}
	n, wrong := strconv.ParseInt(text, 10, 64)
	if wrong != nil && *err == nil {
		*err = fmt.Errorf("%s must be a whole number, not %.40q", path, text)
	}
	return n
}

// feed holds a file's readings by meter reading, and their types.
type feed struct {
	types     map[string]readingType // by address
	typeOf    map[string]string      // address of the type, by meter reading
	readings  map[string][]reading   // by meter reading
	meters    []string               // keys of readings, in the order of the file
	doubtful  map[string]string      // first difference of two types, by their address
	clock     *clock                 // nil if the file has none
	summaries []summary
	number    int // of readings
}

// readFeed reads all entries of a feed, or of a file with a single entry.
func readFeed(text io.Reader) (*feed, error) {
	f := &feed{types: map[string]readingType{}, doubtful: map[string]string{}, typeOf: map[string]string{}, readings: map[string][]reading{}}
	s := &scanner{in: text}
	e, r := entry{}, emptyReading
	for {
		err := s.next()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		switch {
		case err != nil:
		case !s.end:
			e.begin(s)
		case string(s.name) == "entry":
			err, e = f.add(&e), entry{}
		case string(s.name) == "IntervalReading":
			switch f.number++; {
			case f.number > maxReadings:
				err = fmt.Errorf("it has more than %d readings", maxReadings)
			case r.value == noValue || r.duration < 0:
				err = fmt.Errorf("the reading at %s has no duration or no value", instant(r.start))
			}
			e.readings, r = append(e.readings, r), emptyReading
		case s.leaf:
			err = e.leaf(s, &r)
		}
		if err != nil {
			return nil, err
		}
	}
}

// begin handles a start tag.
func (e *entry) begin(s *scanner) {
	switch string(s.name) {
	case "entry":
		*e = entry{leaves: map[string]string{}, has: map[string]bool{}}
	case "link":
		e.links = append(e.links, link{s.attr("rel"), s.attr("href")})
	case "IntervalBlock", "ReadingType", "UsagePoint", "LocalTimeParameters", "UsageSummary", "ElectricPowerUsageSummary":
		if e.has != nil {
			e.has[string(s.name)] = true
		}
	}
}

// leaf handles the end tag of an element without elements. The elements of readings do
// not go through the map, because a file has many thousands.
func (e *entry) leaf(s *scanner, r *reading) error {
	var to *int64
	switch parent := s.parent(); string(parent) {
	case "timePeriod":
		switch string(s.name) {
		case "start":
			to = &r.start
		case "duration":
			to = &r.duration
		}
	case "IntervalReading":
		if string(s.name) == "value" {
			to = &r.value
		}
	default:
		if e.leaves != nil {
			e.leaves[s.keep(parent)+"/"+s.keep(s.name)] = s.keep(s.text)
		}
	}
	if to == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(s.text), 10, 64)
	if err != nil {
		return fmt.Errorf("%s of a reading must be a whole number, not %.40q", s.name, s.text)
	}
	*to = n
	return nil
}

// add adds an entry to the feed.
func (f *feed) add(e *entry) (err error) {
	self := e.link("self", "")
	switch {
	case e.has["ReadingType"]:
		t := readingType{
			e.number("ReadingType/uom", &err), e.number("ReadingType/powerOfTenMultiplier", &err),
			e.number("ReadingType/flowDirection", &err), e.number("ReadingType/accumulationBehaviour", &err),
		}
		if err == nil && max(t.multiplier, -t.multiplier) > maxMultiplier {
			err = fmt.Errorf("ReadingType/powerOfTenMultiplier is %d, beyond 10^%d", t.multiplier, maxMultiplier)
		}
		if other, have := f.types[self]; have && other != t {
			f.doubtful[self] = other.difference(&t)
		}
		f.types[self] = t
	case e.has["LocalTimeParameters"]:
		offset, dst := e.number("LocalTimeParameters/tzOffset", &err), e.number("LocalTimeParameters/dstOffset", &err)
		f.clock = newClock(offset, dst, e.leaves["LocalTimeParameters/dstStartRule"], e.leaves["LocalTimeParameters/dstEndRule"])
	case e.has["UsagePoint"] && e.leaves["ServiceCategory/kind"] != "":
		if kind := e.number("ServiceCategory/kind", &err); kind != categoryPower {
			return fmt.Errorf("it has the service category %d, want %d, electricity", kind, categoryPower)
		}
	case e.has["UsageSummary"] || e.has["ElectricPowerUsageSummary"]:
		f.addSummary(e, &err)
		if len(f.summaries) > maxSummaries {
			err = fmt.Errorf("it has more than %d summaries", maxSummaries)
		}
	case e.link("related", "/ReadingType/") != "":
		f.typeOf[self] = e.link("related", "/ReadingType/")
	}
	if e.has["IntervalBlock"] {
		meter, _, _ := strings.Cut(e.link("up", "/IntervalBlock"), "/IntervalBlock")
		if have, ok := f.readings[meter]; ok {
			f.readings[meter] = append(have, e.readings...)
		} else {
			f.meters, f.readings[meter] = append(f.meters, meter), e.readings
		}
	}
	return err
}

// addSummary adds the energy of a billing period. A summary during the billing period has
// the energy of an earlier period, whose days it does not name.
func (f *feed) addSummary(e *entry, err *error) {
	s := summary{start: e.number("billingPeriod/start", err)}
	s.end = s.start + e.number("billingPeriod/duration", err)
	s.kwh = float64(e.number("overallConsumptionLastPeriod/value", err)) * scale(e.number("overallConsumptionLastPeriod/powerOfTenMultiplier", err))
	asOf := e.number("currentBillingPeriodOverAllConsumption/timeStamp", err)
	if e.number("overallConsumptionLastPeriod/uom", err) == unitWattHours && (asOf <= s.start || asOf >= s.end) {
		f.summaries = append(f.summaries, s)
	}
}

// scale returns the kWh of one unit of Wh with a power of ten.
func scale(multiplier int64) float64 { return math.Pow10(int(multiplier) - 3) }

// typed returns the type of a meter reading. A file with a single type may leave out the
// links to it.
func (f *feed) typed(meter string) (readingType, error) {
	address := f.typeOf[meter]
	if address == "" && len(f.types) == 1 {
		for address = range f.types {
			break
		}
	}
	t, known := f.types[address]
	switch {
	case !known:
		return t, errors.New("the Green Button file names no ReadingType of its readings, so their unit is unknown: download the whole feed")
	case f.doubtful[address] != "":
		return t, fmt.Errorf("the Green Button file has two ReadingTypes with the address %q, with %s, so the meaning of its readings is unknown",
			address, f.doubtful[address])
	}
	return t, nil
}
