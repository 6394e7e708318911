package pricing

import (
	"strings"

	"github.com/gridhook/gridhook/pricing/market"
)

// CompensationType is the way in which exported energy is paid.
type CompensationType string

// The ways in which exported energy is paid.
const (
	NetMetering CompensationType = "NET_METERING" // credited at the import price, but for its uncredited part
	NetBilling  CompensationType = "NET_BILLING"  // paid at the tariff's sell rate, or at avoided-cost values by the hour
	FeedIn      CompensationType = "FEED_IN"      // all generation is sold at the sell rate
	Wholesale   CompensationType = "WHOLESALE"    // paid at the market price
	NoExport    CompensationType = "NONE"         // not paid
)

// ExportCompensation says how the export prices of a curve came about. The
// dates are those of the tariff, both inclusive; a zero date means no bound.
type ExportCompensation struct {
	Type          CompensationType `json:"type"`
	Source        string           `json:"source,omitempty"`
	Description   string           `json:"description,omitempty"`
	EffectiveFrom Date             `json:"effectiveFrom,omitzero"`
	EffectiveTo   Date             `json:"effectiveTo,omitzero"`
}

// Solar is the solar system of a home.
type Solar struct {
	SizeKw float64 // rated power, kW
	// NonNetMetered marks a system without net metering: its exports are never
	// paid at the import price, whatever the tariff says.
	NonNetMetered bool
}

// compensate applies the tariff's rules for distributed generation, in the
// vocabulary of the rate database's field dgrules.
func (v *version) compensate(nonNetMetered bool) ExportCompensation {
	kind, description := v.exportRule(nonNetMetered)
	return ExportCompensation{
		Type:          kind,
		Source:        v.info.Source,
		Description:   description,
		EffectiveFrom: v.info.EffectiveFrom,
		EffectiveTo:   v.info.EffectiveTo,
	}
}

func (v *version) exportRule(nonNetMetered bool) (CompensationType, string) {
	netMetered := isNetMetering(v.info.DGRules)
	switch {
	case netMetered && !nonNetMetered:
		return NetMetering, "Net metering: an exported kWh is credited at the import price of its interval."
	case v.values != nil:
		return NetBilling, "Net billing: an exported kWh is paid the avoided cost of its hour (" + v.values.String() + ")."
	case v.pays && isFeedIn(v.info.DGRules):
		return FeedIn, "Feed-in: an exported kWh is paid at the tariff's sell rate for its interval."
	case v.pays:
		return NetBilling, "Net billing: an exported kWh is paid at the tariff's sell rate for its interval."
	case netMetered:
		return NoExport, "The home's solar is not net metered, and the tariff gives no sell rate."
	default:
		return NoExport, "The tariff gives no sell rate: an exported kWh is not paid."
	}
}

// compensationFor gives how a home's exports are paid.
func (v *version) compensationFor(in *Input) ExportCompensation {
	netMetered := v.compensation[0].Type == NetMetering && (in.Solar == nil || !in.Solar.NonNetMetered)
	sells := in.MarketBidding || isWholesale(v.info.DGRules) && !netMetered
	switch {
	case sells && in.Market != nil:
		c := v.compensation[0]
		c.Type = Wholesale
		c.Description = "Wholesale: an exported kWh is paid the market price of its interval (" + marketName(in.Market) + ")."
		return c
	case in.Solar != nil && in.Solar.NonNetMetered:
		return v.compensation[1]
	}
	return v.compensation[0]
}

func marketName(s *market.Series) string {
	return strings.Join(nonEmpty(s.Node, string(s.Kind)), ", ")
}

func isWholesale(rules string) bool {
	return strings.EqualFold(strings.TrimSpace(rules), "Wholesale")
}

func isNetMetering(rules string) bool {
	return strings.EqualFold(strings.TrimSpace(rules), "Net Metering")
}

// isFeedIn knows the database's "Buy All Sell All" and the spellings of
// "Feed-in" that files outside of it use.
func isFeedIn(rules string) bool {
	words := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(rules), "-", " "))
	return words == "buy all sell all" || strings.HasPrefix(words, "feed in")
}
