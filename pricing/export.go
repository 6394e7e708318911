package pricing

import (
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
)

// CompensationType is a way to pay for exported energy.
type CompensationType string

// The values of CompensationType.
const (
	NetMetering CompensationType = "NET_METERING" // credited at the import price, usually without its uncredited part
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
	// Regime settles the exports, unless NonNetMetered does. The zero value is unknown.
	Regime Regime
	// AccPlus is the segment whose adder net billing adds to the avoided cost; empty if
	// unknown. ConnectionYear is the year of the system's connection.
	AccPlus        netbilling.Segment
	ConnectionYear int
	// AppliedFrom and AppliedTo are the first and the last year in which the home may have
	// applied for its interconnection; 0 if unknown. They select the vintage of the export
	// values.
	AppliedFrom, AppliedTo int
}

// Regime is the set of rules that a statute or an order prescribes for a home's solar.
// Package regime finds it.
type Regime struct {
	Name string `json:"name" doc:"The regime's name, or unknown." example:"NEM 2.0"`
	// Metering is NetMetering or NetBilling; empty if the regime is neither, or unknown.
	Metering CompensationType `json:"metering,omitempty" doc:"NET_METERING or NET_BILLING. Absent if the regime is neither, or unknown." example:"NET_METERING"`
	Source   string           `json:"source,omitempty" doc:"The statute or order." example:"CPUC Decision 16-01-044"`
	Until    string           `json:"until,omitempty" doc:"How long a home stays in the regime." example:"20 years from connection"`
	// CreditsAll marks net metering that credits the whole import price, with the charges
	// that a tariff excludes from the credit.
	CreditsAll bool `json:"-"`
	// MayCreditAll marks two possible regimes, of which only one credits the whole price.
	// CreditsAll is then false.
	MayCreditAll bool `json:"-"`
	// Ends is the last day on which the regime surely holds for the home; zero means no
	// known end.
	Ends Date `json:"-"`
}

// UnknownRegime returns the regime of cases without a known rule.
func UnknownRegime() Regime { return Regime{Name: "unknown"} }

// On returns the regime on a day: r itself until it ends, then the unknown regime.
func (r Regime) On(day Date) Regime {
	if r.Name == "" || !r.Ends.IsZero() && r.Ends.Before(day) {
		return UnknownRegime()
	}
	return r
}

// CreditDoubt says that two regimes are possible and what differs. It is empty without
// doubt.
func (r Regime) CreditDoubt() string {
	if !r.MayCreditAll {
		return ""
	}
	return "the home's regime is " + r.Name + ": only the first credits the charges on every kWh drawn, and the second is assumed"
}

// settlement returns the compensation that facts about the home prescribe on a day. It is
// empty if the tariff's own rule decides.
func (s *Solar) settlement(day Date) CompensationType {
	switch {
	case s == nil:
		return ""
	case s.NonNetMetered:
		return NetBilling
	}
	return s.Regime.On(day).Metering
}

// exportRule returns the compensation under a settlement and its description. It applies
// the tariff's rules for distributed generation in the vocabulary of the rate database's
// field dgrules.
func (v *version) exportRule(settlement CompensationType) (CompensationType, string) {
	netMetered := v.rules == "net metering"
	switch {
	case v.pays && v.isFeedIn():
		return FeedIn, "Feed-in: an exported kWh is paid at the tariff's sell rate for its interval."
	case settlement == NetMetering || settlement == "" && netMetered:
		return NetMetering, "Net metering: an exported kWh is credited at the import price of its interval."
	case v.ExportValues != nil:
		return NetBilling, avoidedCost(v.ExportValues)
	case v.pays:
		return NetBilling, "Net billing: an exported kWh is paid at the tariff's sell rate for its interval."
	case netMetered:
		return NoExport, "The home's solar is not net metered, and the tariff gives no sell rate."
	default:
		return NoExport, "The tariff gives no sell rate: an exported kWh is not paid."
	}
}

// avoidedCost describes net billing by export values.
func avoidedCost(values *netbilling.Values) string {
	return "Net billing: an exported kWh is paid the avoided cost of its hour (" + values.String() + ")."
}

// compensationFor returns the compensation of a home's exports on a day.
func (v *version) compensationFor(in *Input, day Date) ExportCompensation {
	settlement := in.Solar.settlement(day)
	c := v.compensation[settlement]
	sells := in.MarketBidding || v.rules == "wholesale" && settlement != NetMetering
	if sells && in.Market != nil {
		c.Type = Wholesale
		c.Description = "Wholesale: an exported kWh is paid the market price of its interval (" + marketName(in.Market) + ")."
	}
	return c
}

// bids reports whether the market pays for the home's exports whatever its regime.
func (c *card) bids() bool { return c.pricer.in.MarketBidding && c.compensation.Type == Wholesale }

// sells reports whether the home's solar may earn a price of its own for exports, which is not
// the import price.
func (c *card) sells() bool {
	return c.pricer.in.Solar != nil && (c.compensation.Type == NetBilling || c.compensation.Type == Wholesale)
}

// applyRegime applies the credit of the home's regime and adds its doubts. A home with solar
// might be compensated in another way if its regime is unknown, or neither net metering nor
// net billing.
func (c *card) applyRegime() {
	solar := c.pricer.in.Solar
	if solar == nil || c.bids() {
		return
	}
	regime := solar.Regime.On(c.day.date)
	if regime.CreditsAll {
		c.adders.uncredited = 0
	}
	if regime.MayCreditAll {
		c.doubts |= unknownCredit
	}
	if solar.settlement(c.day.date) == "" && (c.compensation.Type != NetMetering || regime.Source != "") {
		c.doubts |= unknownRegime
	}
}

// described returns the compensation with the home's regime in its description.
func (c *card) described() ExportCompensation {
	compensation, solar := c.compensation, c.pricer.in.Solar
	if c.parts != nil && !c.bids() {
		compensation.Description += " The export price is the sum of the parts' export prices."
	}
	if solar == nil || solar.NonNetMetered || c.bids() {
		return compensation
	}
	switch regime := solar.Regime.On(c.day.date); {
	case regime.Metering != "":
		compensation.Description += fmt.Sprintf(" The home's regime is %s (%s).", regime.Name, regime.Source)
		if regime.MayCreditAll {
			compensation.Description += " Only the first credits the charges on every kWh drawn, and the second is assumed."
		}
	case regime.Source != "":
		compensation.Description += fmt.Sprintf(" The home's regime is %s (%s), which is neither net metering nor net billing.", regime.Name, regime.Source)
	default:
		compensation.Description += " The home's net-metering regime is unknown."
	}
	return compensation
}

func marketName(s *market.Series) string {
	return strings.Join(nonEmpty(s.Node, string(s.Kind)), ", ")
}

// isFeedIn recognizes the database's "Buy All Sell All", and the spellings of "Feed-in"
// in other files.
func (v *version) isFeedIn() bool {
	words := strings.ReplaceAll(v.rules, "-", " ")
	return words == "buy all sell all" || strings.HasPrefix(words, "feed in")
}
