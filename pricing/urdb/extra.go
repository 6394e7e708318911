package urdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/netbilling"
)

const (
	maxRiders     = 200
	maxHolidays   = 1000
	maxTaxPercent = 100
)

// federal is the calendar of all federal holidays.
const federal = "federal"

// extras reads the fields that the rate database lacks, and the names of the periods.
func (r *reader) extras(v *pricing.Version) {
	v.PeriodNames = r.periodNames()
	v.Holidays = r.holidays()
	v.HolidaysUnknown = !r.has("holidays") && !r.has("holidaycalendar") && !r.has("holidaysasweekend") && !r.has("holidays_as_weekend")
	v.Riders = append(r.riders(), r.fuelAdjustments()...)
	v.Uncredited = r.ratePerKWh(r.firstOf("nonbypassable", "nonbypassable_usd_kwh"))
	v.Baseline = r.byMonth("baseline", 0, 0, maxBaseline)
	v.ExportValues = r.exportValues()
	v.Passthrough = r.passthrough()
	v.Demand = r.demand()
	for month, confidence := range r.byMonth("confidence", 1, 0, 1) {
		v.Doubt[month] = 1 - confidence
	}
	if needsBaseline(v.Periods) && v.Baseline == [12]float64{} {
		r.problem("baseline", "is missing: a tier is bounded by the baseline allowance")
	}
}

// maxBaseline is above any home's allowance, kWh a day.
const maxBaseline = 10000

func needsBaseline(periods [][]pricing.Tier) bool {
	return slices.ContainsFunc(periods, func(tiers []pricing.Tier) bool {
		return slices.ContainsFunc(tiers, func(t pricing.Tier) bool { return t.Unit == pricing.UnitBaseline && t.Max != nil })
	})
}

// periodNames returns the names from a list of texts, and ignores other values.
func (r *reader) periodNames() []string {
	list, _ := r.doc[r.firstOf("energytoulabels", "periods")].([]any)
	names := make([]string, len(list))
	for i, v := range list {
		name, _ := v.(string)
		names[i] = strings.TrimSpace(clip(name))
	}
	return names
}

// exportValues finds the values by name.
func (r *reader) exportValues() *netbilling.Values {
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

func (r *reader) ratePerKWh(key string) float64 { return r.rate(key, r.doc[key]) }

// byMonth reads one number or twelve numbers, each within bounds.
func (r *reader) byMonth(key string, absentValue, low, high float64) (values [12]float64) {
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

func filled(value float64) [12]float64 { return [12]float64(slices.Repeat([]float64{value}, 12)) }

func (r *reader) within(path string, v any, low, high float64) float64 {
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

// holidays reads the days with weekend prices. holidaysobserved sets the rule for
// holidays on a Saturday and overrides the calendar's rule.
func (r *reader) holidays() pricing.Holidays {
	h := r.holidayCalendar()
	switch on := r.text("holidaysobserved", maxShortText); on {
	case "":
	case "federal":
		h.SaturdaysStay = false
	case "monday":
		h.SaturdaysStay = true
	default:
		r.problem("holidaysobserved", "%q is not known; federal and monday are", clip(on))
	}
	return h
}

// holidayCalendar returns the tariff's own list, or the calendar that it names. If the
// tariff only reports that it has holidays, the calendar is the utility's.
func (r *reader) holidayCalendar() (h pricing.Holidays) {
	const nameKey = "holidaycalendar"
	named := r.text(nameKey, maxShortText)
	asWeekend := r.firstOf("holidaysasweekend", "holidays_as_weekend")
	switch v := r.doc["holidays"].(type) {
	case nil:
		on, isBool := r.doc[asWeekend].(bool)
		if !isBool && r.has(asWeekend) {
			r.problem(asWeekend, "must be true or false, not %s", kindOf(r.doc[asWeekend]))
		}
		switch {
		case named != "" && (on || !isBool):
			var known bool
			if h, known = pricing.Calendar(named); !known {
				r.problem(nameKey, "%q is not known; PG&E, SCE, SDG&E and federal are", clip(named))
			}
		case on:
			h = pricing.UtilityCalendar(r.integer("eiaid"))
		}
	case bool:
		if v {
			h, _ = pricing.Calendar(federal)
		}
	case string:
		r.holiday("holidays", v, &h)
	case []any:
		if len(v) > maxHolidays {
			r.problem("holidays", "has %d entries; at most %d are read", len(v), maxHolidays)
			return h
		}
		for i, entry := range v {
			r.holiday(fmt.Sprintf("holidays[%d]", i), entry, &h)
		}
	default:
		r.problem("holidays", "must be a list of dates and names, not %s", kindOf(v))
	}
	return h
}

func (r *reader) holiday(path string, v any, h *pricing.Holidays) {
	s, ok := as[string](r, path, v, "a date or the name of a holiday")
	if !ok || h.Add(s) {
		return
	}
	d, ok := dateOfText(strings.TrimSpace(s))
	if !ok {
		r.problem(path, "%q is neither a date such as 2026-07-03 nor a US federal holiday", clip(s))
		return
	}
	h.AddDay(d)
}

// riders reads the named adders.
func (r *reader) riders() []pricing.Rider {
	const key = "riders"
	if !r.has(key) {
		return nil
	}
	list, ok := as[[]any](r, key, r.doc[key], "an array")
	switch {
	case !ok:
		return nil
	case len(list) > maxRiders:
		r.problem(key, "has %d entries; at most %d are read", len(list), maxRiders)
		return nil
	}
	riders := make([]pricing.Rider, 0, len(list))
	for i, v := range list {
		if one, ok := r.object(fmt.Sprintf("%s[%d]", key, i), v, "an object"); ok {
			riders = append(riders, one.rider("rider "+strconv.Itoa(i+1)))
		}
	}
	r.boundRiders(riders)
	return riders
}

// fuelAdjustments reads the database's prices by calendar month in addition to every rate.
func (r *reader) fuelAdjustments() (riders []pricing.Rider) {
	for i, rate := range r.byMonth("fueladjustmentsmonthly", 0, -maxRate, maxRate) {
		if rate != 0 {
			riders = append(riders, pricing.Rider{Name: "fuel adjustment", Rate: rate, Month: time.Month(i + 1)})
		}
	}
	return riders
}

// boundRiders rejects riders whose sum is above any real price.
func (r *reader) boundRiders(riders []pricing.Rider) {
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

// rider reads one rider from a reader of the rider's fields.
func (r *reader) rider(name string) pricing.Rider {
	rider := pricing.Rider{Name: cmp.Or(r.text("name", maxShortText), name), From: r.date("startdate"), To: r.date("enddate")}
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
	if from, to := rider.From, rider.To; !from.IsZero() && !to.IsZero() && to.Before(from) {
		r.problem("enddate", "%v is before the start date %v", to, from)
	}
	return rider
}
