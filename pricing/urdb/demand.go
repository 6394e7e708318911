package urdb

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

// demand reads the prices of power. They are not part of the price signal, so an error
// does not reject the tariff. demand skips an unreadable charge and records it in
// Problem.
func (r *reader) demand() pricing.Demand {
	in := &reader{doc: r.doc, path: r.path, problems: &pricing.Problems{}}
	d := pricing.Demand{
		Flat:      in.demandCharges("flatdemandstructure", "flatdemandunit"),
		TimeOfUse: in.demandCharges("demandratestructure", "demandrateunit"),
	}
	if len(d.Flat) > 0 {
		d.FlatMonths = in.flatMonths(d.Flat)
	}
	if periods := len(d.TimeOfUse); periods > 0 {
		d.Schedules = in.schedules("demandweekdayschedule", "demandweekendschedule", periods)
	}
	if d.WindowMinutes = in.integer("demandwindow"); !slices.Contains([]int{0, 15, 30, 60}, d.WindowMinutes) {
		in.problem("demandwindow", "%d minutes cannot be billed; 15, 30 and 60 can", d.WindowMinutes)
		d.WindowMinutes = 0
	}
	d.Ratchet = in.ratchet()
	if in.has("coincidentratestructure") {
		in.problem("coincidentratestructure", "is left out: the hour of a system's peak is not known")
	}
	if power, _ := in.number("demandreactivepowercharge"); power != 0 {
		in.problem("demandreactivepowercharge", "is left out: the reactive power is not known")
	}
	if in.byMonth("demandratchetpercentage", 0, 0, 100) != [12]float64{} {
		in.problem("demandratchetpercentage", "is left out: the months that it counts are not known, name them by lookbackpercent and lookbackmonths")
	}
	if err := in.problems.Err(); err != nil {
		d.Problem = err.Error()
	}
	return d
}

// demandCharges reads structure[period][tier]. It returns nil if all rates are 0.
func (r *reader) demandCharges(key, unitKey string) []pricing.DemandCharge {
	periods, _ := r.doc[key].([]any)
	charges := make([]pricing.DemandCharge, len(periods))
	charged := false
	for i, period := range periods {
		path := fmt.Sprintf("%s[%d]", key, i)
		tiers, _ := as[[]any](r, path, period, "an array of tiers")
		unit := r.text(unitKey, maxShortText)
		for j, tier := range tiers {
			path := fmt.Sprintf("%s[%d]", path, j)
			fields, ok := as[map[string]any](r, path, tier, "an object")
			if !ok {
				continue
			}
			rate, _ := r.finite(path+".rate", fields["rate"])
			adj, _ := r.finite(path+".adj", fields["adj"])
			charges[i].Tiers = append(charges[i].Tiers, pricing.DemandTier{MaxKW: r.tierMax(path+".max", fields["max"]), Rate: rate + adj})
			tierUnit, _ := fields["unit"].(string)
			unit = cmp.Or(unit, tierUnit)
			charged = charged || rate+adj != 0
		}
		charges[i].Unit = r.demandUnit(path+".unit", unit)
	}
	if !charged {
		return nil
	}
	return charges
}

// demandUnit reads "kW", "hp" or "kVA", each also as "kW daily".
func (r *reader) demandUnit(path, unit string) (u pricing.DemandUnit) {
	const horsepower = 0.7457 // kW
	name, daily := strings.CutSuffix(strings.ToLower(strings.TrimSpace(unit)), " daily")
	u.Daily = daily
	switch name {
	case "", "kw":
	case "hp":
		u.KW = horsepower
	case "kva":
		r.problem(path, "kVA are billed as kW: the power factor is not known")
	default:
		r.problem(path, "%q is not a unit of demand; kW, hp and kVA are known, also daily", clip(unit))
	}
	return u
}

// flatMonths reads the charge of each month. Equal charges have one index, so that the month
// in which one follows another has one highest demand.
func (r *reader) flatMonths(charges []pricing.DemandCharge) (months [12]int) {
	const key = "flatdemandmonths"
	list, _ := r.doc[key].([]any)
	if len(list) != len(months) {
		if len(charges) > 1 {
			r.problem(key, "must have 12 indexes, one a month")
		}
		return months
	}
	for i, v := range list {
		index, wrong := periodIndex(v, len(charges))
		if wrong != "" {
			r.problem(fmt.Sprintf("%s[%d]", key, i), "%s", wrong)
		}
		months[i] = slices.IndexFunc(charges, func(c pricing.DemandCharge) bool { return reflect.DeepEqual(c, charges[index]) })
	}
	return months
}

// ratchet reads the look-back of demand charges.
func (r *reader) ratchet() (t pricing.Ratchet) {
	const percentKey, monthsKey = "lookbackpercent", "lookbackmonths"
	if percent := r.doc[percentKey]; !absent(percent) {
		t.Share = r.within(percentKey, percent, 0, 1)
	}
	t.Months = r.integer("lookbackrange")
	list, _ := r.doc[monthsKey].([]any)
	for i, v := range list {
		if i >= len(t.Counts) {
			r.problem(monthsKey, "must have at most 12 entries")
			break
		}
		number, err := parseNumber(v)
		t.Counts[i] = v == true || err == nil && number != 0
	}
	return t
}
