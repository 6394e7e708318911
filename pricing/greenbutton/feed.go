package greenbutton

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Codes of ESPI (espiDerived.xsd).
const (
	unitWattHours = 72
	directionOut  = 19 // reverse: from the home to the grid
	deltaData     = 4  // the energy of the interval, not a meter's count
	categoryPower = 0  // service category: electricity
)

// maxReadings is the maximum number of readings in a file: 28 years of quarter hours.
const maxReadings = 1_000_000

// entry is the part of an Atom entry that matters here. Names match in any namespace.
type entry struct {
	Links []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Content struct {
		Blocks []struct {
			Readings []reading `xml:"IntervalReading"`
		} `xml:"IntervalBlock"`
		Type  *readingType `xml:"ReadingType"`
		Point *struct {
			Category *int `xml:"ServiceCategory>kind"`
		} `xml:"UsagePoint"`
		Time *struct {
			Offset int `xml:"tzOffset"` // of standard time from UTC, in seconds
		} `xml:"LocalTimeParameters"`
	} `xml:"content"`
}

type reading struct {
	Start    int64 `xml:"timePeriod>start"`    // Unix seconds
	Duration int64 `xml:"timePeriod>duration"` // seconds
	Value    int64 `xml:"value"`
}

type readingType struct {
	Unit         int `xml:"uom"`
	Multiplier   int `xml:"powerOfTenMultiplier"`
	Direction    int `xml:"flowDirection"`
	Accumulation int `xml:"accumulationBehaviour"`
}

// link returns the first link of a relation whose address has a part, "" if there is none.
func (e *entry) link(rel, part string) string {
	for _, l := range e.Links {
		if l.Rel == rel && strings.Contains(l.Href, part) {
			return l.Href
		}
	}
	return ""
}

// feed holds a file's readings by meter reading, and their types.
type feed struct {
	types    map[string]readingType // by address
	typeOf   map[string]string      // address of the type, by meter reading
	readings map[string][]reading   // by meter reading
	meters   []string               // keys of readings, in the order of the file
	doubtful string                 // address of two different types
	offset   *int                   // of standard time from UTC, in seconds
	number   int                    // of readings
}

// readFeed reads all entries of a feed, or of a file with a single entry.
func readFeed(r io.Reader) (*feed, error) {
	f := &feed{types: map[string]readingType{}, typeOf: map[string]string{}, readings: map[string][]reading{}}
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "entry" {
			continue
		}
		var e entry
		if err := d.DecodeElement(&e, &start); err != nil {
			return nil, err
		}
		if err := f.add(&e); err != nil {
			return nil, err
		}
	}
}

func (f *feed) add(e *entry) error {
	c := &e.Content
	switch self := e.link("self", ""); {
	case c.Type != nil:
		if other, have := f.types[self]; have && other != *c.Type {
			f.doubtful = self
		}
		f.types[self] = *c.Type
	case c.Time != nil:
		f.offset = &c.Time.Offset
	case c.Point != nil && c.Point.Category != nil && *c.Point.Category != categoryPower:
		return fmt.Errorf("the file has the service category %d, want %d, electricity", *c.Point.Category, categoryPower)
	case e.link("related", "/ReadingType/") != "":
		f.typeOf[self] = e.link("related", "/ReadingType/")
	}
	meter, _, _ := strings.Cut(e.link("up", "/IntervalBlock"), "/IntervalBlock")
	for _, b := range c.Blocks {
		if f.readings[meter] == nil {
			f.meters = append(f.meters, meter)
		}
		f.readings[meter] = append(f.readings[meter], b.Readings...)
		if f.number += len(b.Readings); f.number > maxReadings {
			return fmt.Errorf("the file has more than %d readings", maxReadings)
		}
	}
	return nil
}

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
	case address == f.doubtful:
		return t, fmt.Errorf("the Green Button file has two ReadingTypes with the address %q, so the unit of its readings is unknown", address)
	}
	return t, nil
}
