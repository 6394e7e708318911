package market

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// group identifies a future series.
type group struct {
	node string
	kind Kind
}

// reader collects the points of a file.
type reader struct {
	options Options
	bad     func(LineError) // gets the rows with errors
	groups  map[group][]Point
	order   []group
	local   map[group]time.Time // the last local time of each series
}

// The names of columns, in order of preference.
var (
	startColumns = []string{"millisutc", "intervalstarttimegmt", "datetimebeginningutc", "utcstart", "starttime", "start", "intervalstart", "timestamp", "time", "datetime"}
	nodeColumns  = []string{"node", "nodeid", "pnodename", "settlementpoint", "settlementpointname", "location"}
	kindColumns  = []string{"market", "marketrunid", "kind"}
)

// priceColumns are the price columns with a known unit. scale converts a price to $/kWh.
// kind is set if only one market publishes the column.
var priceColumns = []struct {
	name  string
	scale float64
	kind  Kind
}{
	{"totallmpda", 1e-3, DayAhead}, {"totallmprt", 1e-3, RealTime},
	{"dalmpusdmwh", 1e-3, DayAhead}, {"rtlmpusdmwh", 1e-3, RealTime},
	{"settlementpointprice", 1e-3, ""},
	{"lmpusdmwh", 1e-3, ""}, {"priceusdmwh", 1e-3, ""}, {"usdpermwh", 1e-3, ""},
	{"priceusdkwh", 1, ""}, {"usdperkwh", 1, ""},
}

// take reads one row. An error comes with the name of its field.
func (r *reader) take(row row) (field string, err error) {
	if kind, ok := row.fields["lmptype"]; ok && !strings.EqualFold(kind, "LMP") {
		return "", nil // CAISO also lists the components of a price
	}
	if strings.HasSuffix(row.fields["settlementpointtype"], "EW") {
		return "", nil // ERCOT also lists a load zone's prices weighted by energy, of the types LZEW and LZ_DCEW
	}
	price, kind, field, err := row.price()
	if err != nil {
		return field, err
	}
	g := group{node: cmp.Or(row.first(nodeColumns), r.options.Node)}
	if g.kind, err = row.kind(kind, r.options.Kind); err != nil {
		return "market", err
	}
	start, field, err := r.start(row, g)
	if err != nil {
		return field, err
	}
	if err := CheckUnit(g.kind, row.fields["unit"]); err != nil {
		return "unit", err
	}
	if r.groups[g] == nil {
		r.order = append(r.order, g)
	}
	r.groups[g] = append(r.groups[g], Point{Start: start, Price: price})
	return "", nil
}

func (w row) first(names []string) string {
	for _, name := range names {
		if v := w.fields[name]; v != "" {
			return v
		}
	}
	return ""
}

// price returns the price in $/kWh, and the market that its column implies.
func (w row) price() (price float64, kind Kind, field string, err error) {
	for _, c := range priceColumns {
		if v, ok := w.fields[c.name]; ok {
			price, err = Number(v)
			return price * c.scale, c.kind, c.name, err
		}
	}
	if w.fields["lmptype"] != "" { // CAISO
		for _, name := range []string{"mw", "value", "prc"} {
			if v, ok := w.fields[name]; ok {
				price, err = Number(v)
				return price * 1e-3, "", name, err
			}
		}
	}
	v, ok := w.fields["price"]
	if !ok {
		return 0, "", "price", errors.New("there is no column of prices")
	}
	scale, err := w.unit()
	if err != nil {
		return 0, "", "unit", err
	}
	price, err = Number(v)
	return price * scale, "", "price", err
}

// unit returns the factor from a plain price to $/kWh. Plain drops the signs of currencies,
// so unit spells out the cents and keeps the units of other currencies unknown.
func (w row) unit() (float64, error) {
	if w.fields["millisutc"] != "" { // ComEd
		return 1e-2, nil
	}
	text := strings.ReplaceAll(w.fields["unit"], "¢", "c")
	if strings.ContainsFunc(text, func(r rune) bool { return r != '$' && unicode.Is(unicode.Sc, r) }) {
		return 0, errUnit(text)
	}
	switch unit := plain.Name(text); unit {
	case "kwh", "usdkwh", "usdperkwh":
		return 1, nil
	case "mwh", "usdmwh", "usdpermwh":
		return 1e-3, nil
	case "ckwh", "centskwh", "centsperkwh":
		return 1e-2, nil
	case "":
		return 0, errors.New("is missing: a price is in $/kWh, $/MWh or cents/kWh")
	default:
		if factor, ok := massUnits[unit]; ok {
			return factor, nil
		}
	}
	return 0, errUnit(text)
}

func errUnit(unit string) error {
	return fmt.Errorf("%q is not known; $/kWh, $/MWh and cents/kWh are", unit)
}

// grouped matches a number with commas between thousands. A decimal comma is no such comma.
var grouped = regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$`)

// Number reads a finite number, which may have commas between thousands.
func Number(s string) (float64, error) {
	if strings.Contains(s, ",") && grouped.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// kind returns the market of a row.
func (w row) kind(implied, fallback Kind) (Kind, error) {
	switch name := plain.Name(w.first(kindColumns)); name {
	case "dayahead", "dam", "da":
		return DayAhead, nil
	case "realtime", "rtm", "rt", "rtd", "rtpd", "hasp", "rt5", "rt5minute":
		return RealTime, nil
	case "emissions":
		return Emissions, nil
	case "":
	default:
		return "", fmt.Errorf("%q is not a market; DAY_AHEAD and REAL_TIME are", w.first(kindColumns))
	}
	switch {
	case implied != "":
		return implied, nil
	case w.fields["hourending"] != "": // ERCOT
		return DayAhead, nil
	case w.fields["deliveryinterval"] != "" || w.fields["millisutc"] != "":
		return RealTime, nil
	}
	return fallback, nil
}

// start returns the start of a row's interval.
func (r *reader) start(w row, g group) (t time.Time, field string, err error) {
	if w.fields["deliverydate"] != "" {
		t, err = r.ercot(w)
		return t, "DeliveryDate", err
	}
	for _, name := range startColumns {
		if v := w.fields[name]; v != "" {
			t, err = r.parseTime(g, name, v)
			if r.options.Ending {
				t = t.Add(-r.options.Step)
			}
			return t, name, err
		}
	}
	return t, "start", errors.New("there is no column of times")
}

var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"1/2/2006 3:04:05 PM", "1/2/2006 15:04:05", "1/2/2006 15:04", "1/2/2006 3:04 PM",
}

// IsUTC reports whether the name of a column says that its times are UTC.
func IsUTC(column string) bool {
	column = strings.ToLower(column)
	return strings.Contains(column, "utc") || strings.Contains(column, "gmt")
}

// parseTime parses a time of a column, or Unix seconds or milliseconds. A time without an
// offset is UTC, unless the options and the name of the column say otherwise.
func (r *reader) parseTime(g group, column, s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) == 10 {
		return time.Unix(n, 0).UTC(), nil
	} else if err == nil && len(s) == 13 {
		return time.UnixMilli(n).UTC(), nil
	}
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if r.options.Local && !IsUTC(column) && r.options.Location != nil && !strings.Contains(layout, "Z07") {
			return r.parseLocal(g, t)
		}
		return t.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-07-01T00:00:00Z", s)
}

// parseLocal returns the instant of a local time. Of the two instants of a repeated time it
// returns the one nearer to the row before, whether the rows are in order or the newest is the
// first. Two equal times in a row are two hours, but one shorter interval and its correction.
func (r *reader) parseLocal(g group, clock time.Time) (time.Time, error) {
	t := time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, r.options.Location)
	if t.Hour() != clock.Hour() || t.Day() != clock.Day() {
		return t, fmt.Errorf("%s does not exist in %v: the clocks go forward", clock.Format(time.DateTime), r.options.Location)
	}
	last := r.local[g]
	away := func(t time.Time) time.Duration {
		if t.Equal(last) && (r.options.Step == 0 || r.options.Step == time.Hour) {
			return 2 * time.Hour
		}
		return t.Sub(last).Abs()
	}
	t = occurrence(t, false)
	if second := occurrence(t, true); away(second) < away(t) {
		t = second
	}
	r.local[g] = t
	return t.UTC(), nil
}

// occurrence returns the first or the second instant with the local time of t. Most local
// times have only one.
func occurrence(t time.Time, second bool) time.Time {
	if before := t.Add(-time.Hour); before.Hour() == t.Hour() {
		t = before
	}
	if again := t.Add(time.Hour); second && again.Hour() == t.Hour() {
		t = again
	}
	return t
}

// ercot combines ERCOT's local date and hour. The flag marks the second of two hours with
// the same name at the end of daylight saving time.
func (r *reader) ercot(w row) (time.Time, error) {
	if r.options.Location == nil {
		return time.Time{}, errors.New("is a local date: the time zone of the prices must be given")
	}
	day, err := time.Parse("01/02/2006", w.fields["deliverydate"])
	if err != nil { // the public API has dates of ISO 8601
		day, err = time.Parse(time.DateOnly, w.fields["deliverydate"])
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a date such as 07/01/2026", w.fields["deliverydate"])
	}
	ending, interval := w.fields["hourending"], 1
	if ending == "" {
		ending = w.fields["deliveryhour"]
		if interval, err = strconv.Atoi(w.fields["deliveryinterval"]); err != nil || interval < 1 || interval > 4 {
			return time.Time{}, fmt.Errorf("interval %q is not 1 to 4", w.fields["deliveryinterval"])
		}
	}
	digits, _, _ := strings.Cut(ending, ":")
	hour, err := strconv.Atoi(digits)
	if err != nil || hour < 1 || hour > 24 {
		return time.Time{}, fmt.Errorf("hour %q is not 1 to 24", ending)
	}
	second := strings.EqualFold(w.fields["dstflag"], "Y") || strings.EqualFold(w.fields["dstflag"], "true")
	t := time.Date(day.Year(), day.Month(), day.Day(), hour-1, (interval-1)*15, 0, 0, r.options.Location)
	return occurrence(t, second).UTC(), nil
}
