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
		return [][]pricing.Tier{{{Unit: pricing.UnitKWh}}} // only the market's price
	}
	if !r.has(key) {
		r.problem(key, "%s", r.whyNoEnergyRates())
		return nil
	}
	list, ok := r.doc[key].([]any)
	switch {
	case !ok:
		r.problem(key, "must be an array of periods, not %s", kindOf(r.doc[key]))
	case len(list) == 0:
		r.problem(key, "%s", r.whyNoEnergyRates())
	case len(list) > maxPeriods:
		r.problem(key, "has %d periods; at most %d are read", len(list), maxPeriods)
	}
	if !ok || len(list) == 0 || len(list) > maxPeriods {
		return nil
	}
	periods := make([][]pricing.Tier, len(list))
	for i, v := range list {
		periods[i] = r.period(fmt.Sprintf("%s[%d]", key, i), v)
	}
	return periods
}

func (r *reader) whyNoEnergyRates() string {
	switch {
	case r.has("realtimepricing"):
		return "there is no price per kWh by period: a list of real-time prices is not a published tariff"
	case r.has("flatdemandstructure") || r.has("demandratestructure"):
		return "there is no price per kWh: a plan of demand charges alone gives no price signal"
	default:
		return "there is no price per kWh"
	}
}

func (r *reader) period(path string, v any) []pricing.Tier {
	list, ok := v.([]any)
	if !ok {
		r.problem(path, "must be an array of tiers, not %s", kindOf(v))
		return nil
	}
	if len(list) == 0 {
		r.problem(path, "has no tier")
		return nil
	}
	tiers := make([]pricing.Tier, len(list))
	for i, v := range list {
		tiers[i] = r.tier(fmt.Sprintf("%s[%d]", path, i), v)
	}
	return tiers
}

func (r *reader) tier(path string, v any) pricing.Tier {
	fields, ok := v.(map[string]any)
	if !ok {
		r.problem(path, "must be an object, not %s", kindOf(v))
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
	s, ok := v.(string)
	if !ok {
		r.problem(path, "must be text, not %s", kindOf(v))
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
