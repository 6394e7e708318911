package pricing

import (
	"fmt"
	"math"
	"strings"
)

const (
	maxRate      = 100.0 // $/kWh; anything beyond it is a mistake of units
	unboundedMax = 1e30  // SAM writes 1e38, as a 32-bit float, for "no maximum"
	maxPeriods   = math.MaxUint16
)

// energyRates reads energyratestructure[period][tier].
func (r *urdbReader) energyRates() [][]Tier {
	const key = "energyratestructure"
	if !r.has(key) && r.has(marketKey) {
		return [][]Tier{{{Unit: UnitKWh}}} // nothing but the market's price
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
	periods := make([][]Tier, len(list))
	for i, v := range list {
		periods[i] = r.period(fmt.Sprintf("%s[%d]", key, i), v)
	}
	return periods
}

func (r *urdbReader) whyNoEnergyRates() string {
	switch {
	case r.has("realtimepricing"):
		return "there is no price per kWh by period: a list of real-time prices is not a published tariff"
	case r.has("flatdemandstructure") || r.has("demandratestructure"):
		return "there is no price per kWh: a plan of demand charges alone gives no price signal"
	default:
		return "there is no price per kWh"
	}
}

func (r *urdbReader) period(path string, v any) []Tier {
	list, ok := v.([]any)
	if !ok {
		r.problem(path, "must be an array of tiers, not %s", kindOf(v))
		return nil
	}
	if len(list) == 0 {
		r.problem(path, "has no tier")
		return nil
	}
	tiers := make([]Tier, len(list))
	for i, v := range list {
		tiers[i] = r.tier(fmt.Sprintf("%s[%d]", path, i), v)
	}
	return tiers
}

func (r *urdbReader) tier(path string, v any) Tier {
	fields, ok := v.(map[string]any)
	if !ok {
		r.problem(path, "must be an object, not %s", kindOf(v))
		return Tier{}
	}
	var t Tier
	t.Max = r.tierMax(path+".max", fields["max"])
	t.Rate = r.rate(path+".rate", fields["rate"])
	t.Adj = r.rate(path+".adj", fields["adj"])
	t.Sell = r.rate(path+".sell", fields["sell"])
	t.Sells = !absent(fields["sell"])
	t.Unit = r.unit(path+".unit", fields["unit"])
	if absent(fields["rate"]) && absent(fields["adj"]) {
		r.problem(path, "has neither rate nor adj")
	}
	if math.Abs(t.Price()) > maxRate {
		r.problem(path, "rate and adj together are %v $/kWh, beyond %v", t.Price(), maxRate)
	}
	return t
}

func (r *urdbReader) rate(path string, v any) float64 {
	f, _ := r.finite(path, v)
	if math.Abs(f) > maxRate {
		r.problem(path, "%v $/kWh is beyond %v", f, maxRate)
		return 0
	}
	return f
}

func (r *urdbReader) tierMax(path string, v any) *float64 {
	if absent(v) {
		return nil
	}
	f, err := parseNumber(v)
	switch {
	case err != nil:
		r.problem(path, "%s", err)
	case !(f > 0): // NaN as well
		r.problem(path, "must be more than 0, not %v", f)
	case f < unboundedMax:
		return &f
	}
	return nil
}

func (r *urdbReader) unit(path string, v any) string {
	if absent(v) {
		return UnitKWh
	}
	s, ok := v.(string)
	if !ok {
		r.problem(path, "must be text, not %s", kindOf(v))
		return ""
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "kwh":
		return UnitKWh
	case "kwh daily":
		return UnitKWhDaily
	case "baseline":
		return UnitBaseline
	case "kwh/kw", "kwh/kw daily":
		r.problem(path, "%q steps with the kWh used per kW of demand, which a price signal cannot know", s)
	default:
		r.problem(path, "%q is not a unit of energy use; kWh, kWh daily and baseline are known", clip(s))
	}
	return ""
}
