package pricing

import (
	"strings"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
)

// CompensationType is a way to pay for exported energy.
type CompensationType string

// The values of CompensationType.
const (
	NetMetering CompensationType = "NET_METERING" // credited at the import price, except its uncredited part
	NetBilling  CompensationType = "NET_BILLING"  // paid at the tariff's sell rate, or at hourly avoided-cost values
	FeedIn      CompensationType = "FEED_IN"      // all generation is sold at the sell rate
	Wholesale   CompensationType = "WHOLESALE"    // paid at the market price
	NoExport    CompensationType = "NONE"         // not paid
)

// ExportCompensation describes the origin of a curve's export prices. The dates are the
// tariff's dates, both inclusive; a zero date means no bound.
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
	// NonNetMetered marks a system without net metering. Its exports are never paid at
	// the import price, regardless of the tariff.
	NonNetMetered bool
	// AccPlus is the segment whose adder net billing adds to the avoided cost; empty if
	// unknown. ConnectionYear is the year of the system's connection.
	AccPlus        netbilling.Segment
	ConnectionYear int
}

// compensate applies the tariff's rules for distributed generation. The rules use the
// vocabulary of the rate database's field dgrules.
func (v *version) compensate(nonNetMetered bool) ExportCompensation {
	kind, description := v.exportRule(nonNetMetered)
	return ExportCompensation{
		Type:          kind,
		Source:        v.Info.Source,
		Description:   description,
		EffectiveFrom: v.Info.EffectiveFrom,
		EffectiveTo:   v.Info.EffectiveTo,
	}
}

func (v *version) exportRule(nonNetMetered bool) (CompensationType, string) {
	netMetered := isNetMetering(v.Info.DGRules)
	switch {
	case netMetered && !nonNetMetered:
		return NetMetering, "Net metering: an exported kWh is credited at the import price of its interval."
	case v.ExportValues != nil:
		return NetBilling, "Net billing: an exported kWh is paid the avoided cost of its hour (" + v.ExportValues.String() + ")."
	case v.pays && isFeedIn(v.Info.DGRules):
		return FeedIn, "Feed-in: an exported kWh is paid at the tariff's sell rate for its interval."
	case v.pays:
		return NetBilling, "Net billing: an exported kWh is paid at the tariff's sell rate for its interval."
	case netMetered:
		return NoExport, "The home's solar is not net metered, and the tariff gives no sell rate."
	default:
		return NoExport, "The tariff gives no sell rate: an exported kWh is not paid."
	}
}

// compensationFor returns the compensation of a home's exports.
func (v *version) compensationFor(in *Input) ExportCompensation {
	netMetered := v.compensation[0].Type == NetMetering && (in.Solar == nil || !in.Solar.NonNetMetered)
	sells := in.MarketBidding || isWholesale(v.Info.DGRules) && !netMetered
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

// isFeedIn recognizes the database's "Buy All Sell All", and the spellings of "Feed-in"
// in other files.
func isFeedIn(rules string) bool {
	words := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(rules), "-", " "))
	return words == "buy all sell all" || strings.HasPrefix(words, "feed in")
}
