package pricing

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/netbilling"
)

const (
	maxRiders     = 200
	maxHolidays   = 1000
	maxTaxPercent = 100
)

// extras reads what the rate database has no field for, and the names of the
// periods.
func (r *urdbReader) extras(v *version) {
	v.names = r.periodNames()
	v.holidays = r.holidays()
	v.riders = r.riders()
	v.uncredited = r.ratePerKWh(r.firstOf("nonbypassable", "nonbypassable_usd_kwh"))
	v.baseline = r.byMonth("baseline", 0, 0, maxBaseline)
	v.values = r.exportValues()
	v.passthrough = r.passthrough()
	v.demand = r.demandCharges()
	v.info.HasDemandCharges = len(v.demand) > 0
	for month, confidence := range r.byMonth("confidence", 1, 0, 1) {
		v.doubt[month] = 1 - confidence
	}
	if needsBaseline(v.periods) && v.baseline == [12]float64{} {
		r.problem("baseline", "is missing: a tier is bounded by the baseline allowance")
	}
}

// maxBaseline is beyond any home's allowance, kWh a day.
const maxBaseline = 10000

func needsBaseline(periods [][]Tier) bool {
	return slices.ContainsFunc(periods, func(tiers []Tier) bool {
		return slices.ContainsFunc(tiers, func(t Tier) bool { return t.Unit == UnitBaseline && t.Max != nil })
	})
}

// periodNames takes the names from a list of texts, and nothing from anything
// else.
func (r *urdbReader) periodNames() []string {
	list, _ := r.doc[r.firstOf("energytoulabels", "periods")].([]any)
	names := make([]string, len(list))
	for i, v := range list {
		name, _ := v.(string)
		names[i] = strings.TrimSpace(clip(name))
	}
	return names
}

// exportValues finds the values by name.
func (r *urdbReader) exportValues() *netbilling.Values {
	const key = "exportvalues"
	name := r.text(key, maxShortText)
	if name == "" {
		return nil
	}
	values, ok := netbilling.Named(name)
	if !ok {
		r.problem(key, "%q is not known; these are: %s", clip(name), strings.Join(netbilling.Names(), ", "))
	}
	return values
}

func (r *urdbReader) ratePerKWh(key string) float64 { return r.rate(key, r.doc[key]) }

// byMonth reads one number or twelve of them, each within bounds.
func (r *urdbReader) byMonth(key string, absentValue, low, high float64) (values [12]float64) {
	v := r.doc[key]
	list, isList := v.([]any)
	switch {
	case absent(v):
		return filled(absentValue)
	case !isList:
		return filled(r.within(key, v, low, high))
	case len(list) != len(values):
		r.problem(key, "must be one number or twelve, one a month; it has %d", len(list))
		return filled(absentValue)
	}
	for month, v := range list {
		values[month] = r.within(fmt.Sprintf("%s[%d]", key, month), v, low, high)
	}
	return values
}

func filled(value float64) (values [12]float64) {
	for i := range values {
		values[i] = value
	}
	return values
}

func (r *urdbReader) within(path string, v any, low, high float64) float64 {
	if absent(v) {
		r.problem(path, "has no number")
		return low
	}
	f, ok := r.finite(path, v)
	if ok && (f < low || f > high) {
		r.problem(path, "%v is not within %v and %v", f, low, high)
		return low
	}
	return f
}

// holidays reads the days that are priced as a weekend.
func (r *urdbReader) holidays() (h holidays) {
	switch on := r.text("holidaysobserved", maxShortText); on {
	case "", "federal":
	case "monday":
		h.saturdaysStay = true
	default:
		r.problem("holidaysobserved", "%q is not known; federal and monday are", clip(on))
	}
	asWeekend := r.firstOf("holidaysasweekend", "holidays_as_weekend")
	switch v := r.doc["holidays"].(type) {
	case nil:
	case bool:
		h.add(v)
		return h
	case string:
		r.holiday("holidays", v, &h)
		return h
	case []any:
		if len(v) > maxHolidays {
			r.problem("holidays", "has %d entries; at most %d are read", len(v), maxHolidays)
			return h
		}
		for i, entry := range v {
			r.holiday(fmt.Sprintf("holidays[%d]", i), entry, &h)
		}
		slices.Sort(h.days)
		h.days = slices.Compact(h.days)
		return h
	default:
		r.problem("holidays", "must be a list of dates and names, not %s", kindOf(v))
		return h
	}
	switch v := r.doc[asWeekend].(type) {
	case nil:
	case bool:
		h.add(v)
	default:
		r.problem(asWeekend, "must be true or false, not %s", kindOf(v))
	}
	return h
}

func (h *holidays) add(federal bool) {
	if federal {
		h.federal |= federalHolidays
	}
}

func (r *urdbReader) holiday(path string, v any, h *holidays) {
	s, ok := v.(string)
	if !ok {
		r.problem(path, "must be a date or the name of a holiday, not %s", kindOf(v))
		return
	}
	if set, ok := holidayNamed(s); ok {
		h.federal |= set
		return
	}
	d, ok := dateOfText(strings.TrimSpace(s))
	if !ok {
		r.problem(path, "%q is neither a date such as 2026-07-03 nor a US federal holiday", clip(s))
		return
	}
	h.days = append(h.days, d.dayNumber())
}

// riders reads the named adders.
func (r *urdbReader) riders() []Rider {
	const key = "riders"
	if !r.has(key) {
		return nil
	}
	list, ok := r.doc[key].([]any)
	switch {
	case !ok:
		r.problem(key, "must be an array, not %s", kindOf(r.doc[key]))
		return nil
	case len(list) > maxRiders:
		r.problem(key, "has %d entries; at most %d are read", len(list), maxRiders)
		return nil
	}
	riders := make([]Rider, 0, len(list))
	for i, v := range list {
		path := fmt.Sprintf("%s[%d]", key, i)
		fields, ok := v.(map[string]any)
		if !ok {
			r.problem(path, "must be an object, not %s", kindOf(v))
			continue
		}
		one := &urdbReader{doc: fields, path: r.path + path + ".", problems: r.problems}
		riders = append(riders, one.rider(numbered("rider", i)))
	}
	r.boundRiders(riders)
	return riders
}

// boundRiders refuses adders that are beyond any price when taken together.
func (r *urdbReader) boundRiders(riders []Rider) {
	rates, taxes := 0.0, 0.0
	for _, rider := range riders {
		rates += math.Abs(rider.Rate)
		taxes += math.Abs(rider.Percent)
	}
	if rates > maxRate {
		r.problem("riders", "together they are %v $/kWh, beyond %v", rates, maxRate)
	}
	if taxes > maxTaxPercent {
		r.problem("riders", "together the taxes are %v %%, beyond %v", taxes, maxTaxPercent)
	}
}

// rider reads one adder from a reader of its own fields.
func (r *urdbReader) rider(name string) Rider {
	rider := Rider{Name: orElse(r.text("name", maxShortText), name), From: r.date("startdate"), To: r.date("enddate")}
	if !r.has("rate") {
		r.problem("rate", "is missing")
		return rider
	}
	switch unit := r.text("unit", maxShortText); unit {
	case "", "$/kWh":
		rider.Rate = r.ratePerKWh("rate")
	case "%":
		rider.Percent = r.within("rate", r.doc["rate"], -maxTaxPercent, maxTaxPercent)
	default:
		r.problem("unit", "%q is not a unit of a rider; $/kWh and %% are known", clip(unit))
	}
	switch credited := r.doc["credited"].(type) {
	case nil:
	case bool:
		rider.Uncredited = !credited
	default:
		r.problem("credited", "must be true or false, not %s", kindOf(credited))
	}
	if from, to := rider.From, rider.To; !from.IsZero() && !to.IsZero() && to.dayNumber() < from.dayNumber() {
		r.problem("enddate", "%v is before the start date %v", to, from)
	}
	return rider
}

// numbered is a name for what has none, counted from 1 as people count.
func numbered(word string, i int) string { return word + " " + strconv.Itoa(i+1) }

// orElse is s, or other when s is empty.
func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
