package urdb

import (
	"fmt"
	"math"
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

const (
	maxRate      = 100.0 // $/kWh; a greater rate is a mistake of units
	unboundedMax = 1e30  // SAM writes 1e38, as a 32-bit float, for "no maximum"
	maxPeriods   = math.MaxUint16
)

// energyRates reads energyratestructure[period][tier].
func (r *reader) energyRates() [][]pricing.Tier {
	const key = "energyratestructure"
	if !r.has(key) && r.has(marketKey) {
		return noEnergyRates()
	}
	if !r.has(key) {
		r.problem(key, "%s", r.whyNoEnergyRates())
		return nil
	}
	list, ok := as[[]any](r, key, r.doc[key], "an array of periods")
	switch {
	case !ok:
		return nil
	case len(list) == 0:
		r.problem(key, "%s", r.whyNoEnergyRates())
		return nil
	case len(list) > maxPeriods:
		r.problem(key, "has %d periods; at most %d are read", len(list), maxPeriods)
		return nil
	}
	periods := make([][]pricing.Tier, len(list))
	for i, v := range list {
		periods[i] = r.period(fmt.Sprintf("%s[%d]", key, i), v)
	}
	return periods
}

// noEnergyRates returns the period of a rate without energy prices of its own, such as a
// rate that follows a market.
func noEnergyRates() [][]pricing.Tier { return [][]pricing.Tier{{{Unit: pricing.UnitKWh}}} }

func (r *reader) whyNoEnergyRates() string {
	switch {
	case r.has(hourlyKey):
		return "there is no price per kWh by period: a list of real-time prices is not a published tariff"
	case r.has("flatdemandstructure") || r.has("demandratestructure"):
		return "there is no price per kWh: a plan of demand charges alone gives no price signal"
	default:
		return "there is no price per kWh"
	}
}

func (r *reader) period(path string, v any) []pricing.Tier {
	list, ok := as[[]any](r, path, v, "an array of tiers")
	if ok && len(list) == 0 {
		r.problem(path, "has no tier")
	}
	tiers := make([]pricing.Tier, len(list))
	for i, v := range list {
		tiers[i] = r.tier(fmt.Sprintf("%s[%d]", path, i), v)
	}
	return tiers
}

func (r *reader) tier(path string, v any) pricing.Tier {
	fields, ok := as[map[string]any](r, path, v, "an object")
	if !ok {
		return pricing.Tier{}
	}
	var t pricing.Tier
	t.Max = r.tierMax(path+".max", fields["max"])
	t.Rate = r.rate(path+".rate", fields["rate"])
	t.Adj = r.rate(path+".adj", fields["adj"])
	t.Sell = r.rate(path+".sell", fields["sell"])
	t.Unit = r.unit(path+".unit", fields["unit"])
	if absent(fields["rate"]) && absent(fields["adj"]) {
		r.problem(path, "has neither rate nor adj")
	}
	if math.Abs(t.Price()) > maxRate {
		r.problem(path, "rate and adj together are %v $/kWh, beyond %v", t.Price(), maxRate)
	}
	return t
}

func (r *reader) rate(path string, v any) float64 {
	f, _ := r.finite(path, v)
	if math.Abs(f) > maxRate {
		r.problem(path, "%v $/kWh is beyond %v", f, maxRate)
		return 0
	}
	return f
}

func (r *reader) tierMax(path string, v any) *float64 {
	if absent(v) {
		return nil
	}
	f, err := parseNumber(v)
	switch {
	case err != nil:
		r.problem(path, "%s", err)
	case !(f > 0): // also rejects NaN
		r.problem(path, "must be more than 0, not %v", f)
	case f < unboundedMax:
		return &f
	}
	return nil
}

func (r *reader) unit(path string, v any) string {
	if absent(v) {
		return pricing.UnitKWh
	}
	s, ok := as[string](r, path, v, "text")
	if !ok {
		return ""
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "kwh":
		return pricing.UnitKWh
	case "kwh daily":
		return pricing.UnitKWhDaily
	case "baseline":
		return pricing.UnitBaseline
	case "kwh/kw", "kwh/kw daily":
		r.problem(path, "%q steps with the kWh used per kW of demand, which a price signal cannot know", s)
	default:
		r.problem(path, "%q is not a unit of energy use; kWh, kWh daily and baseline are known", clip(s))
	}
	return ""
}
