package pricing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing/market"
)

// PlanRole is the role of a part in a composed rate plan.
type PlanRole string

// The values of PlanRole.
const (
	RoleDelivery   PlanRole = "DELIVERY"   // the grid's charges, by the utility
	RoleGeneration PlanRole = "GENERATION" // the energy, by the home's supplier
	RoleAdjustment PlanRole = "ADJUSTMENT" // a discount, a credit or a tax on other parts
)

// PlanRoles returns all values of PlanRole.
func PlanRoles() []PlanRole { return []PlanRole{RoleDelivery, RoleGeneration, RoleAdjustment} }

// PlanPart names a part of a composed rate plan.
type PlanPart struct {
	PlanID    string   `json:"planId" pattern:"id" doc:"A plan with a tariff, of the same owner or shared." example:"care"`
	Role      PlanRole `json:"role" doc:"The prices of all roles add up. The percentages of an ADJUSTMENT also apply to the parts before it." example:"ADJUSTMENT"`
	AppliesTo []string `json:"appliesTo,omitempty" maxItems:"7" itemsPattern:"id" doc:"The earlier parts to which the percentages of an ADJUSTMENT apply, by their planId. By default all earlier parts." example:"[\"delivery\"]"`
}

// Adjusts reports whether the part's percentages apply to an earlier part.
func (p *PlanPart) Adjusts(earlier *PlanPart) bool {
	return p.Role == RoleAdjustment && (len(p.AppliesTo) == 0 || slices.Contains(p.AppliesTo, earlier.PlanID))
}

// PricedPart is a part of a composed plan with the inputs that it does not share with the
// other parts.
type PricedPart struct {
	PlanPart
	Tariff *Tariff
	Events []Event
	Market *market.Series // nil if the part's price follows no market
}

// Lead returns the index of the first DELIVERY part. Its export rule also decides how the
// adjustments of a plan count for exported energy.
func Lead(parts []PricedPart) int {
	return max(0, slices.IndexFunc(parts, func(p PricedPart) bool { return p.Role == RoleDelivery }))
}

// base sums the amounts to which the percentages of an adjustment apply, in $/kWh: prices
// of other parts with their adjustments. It is zero for every other part.
type base struct {
	imports float64
	credit  float64 // earned by an exported kWh if all parts had net metering
	exports float64 // the credits of the parts with net metering
}

// addParts adds a pricer for each part of a composed plan.
func (p *pricer) addParts() error {
	p.lead = Lead(p.in.Parts)
	for i := range p.in.Parts {
		part := &p.in.Parts[i]
		in := *p.in
		in.Parts, in.Tariff, in.Events, in.Market = nil, part.Tariff, part.Events, part.Market
		in.ExportChance, in.Carbon = nil, nil
		in.MarketBidding = in.MarketBidding && i == p.lead
		if in.MarketBidding && in.Market == nil {
			in.Market = p.in.Market
		}
		sub, err := newPricer(&in, p.window)
		if err != nil {
			return err
		}
		p.parts = append(p.parts, sub)
	}
	return nil
}

// composedCard returns the card of a stretch with the cards of all parts.
func (p *pricer) composedCard(s Stretch) (*card, error) {
	c := &card{pricer: p, stretch: s, day: newLocalDay(s.Day), quotes: make([]quote, len(p.parts))}
	for _, part := range p.parts {
		sub, err := part.card(s)
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, sub)
	}
	lead := c.parts[p.lead].compensation.Type
	c.compensation, c.doubts = c.parts[p.lead].compensation, c.parts[p.lead].doubts
	for i, sub := range c.parts {
		switch {
		case i == p.lead:
		case c.bids():
			sub.compensation.Type = NoExport // the market pays for the whole kWh
		case p.in.Parts[i].Role != RoleAdjustment:
			if lead == FeedIn && sub.compensation.Type == NetMetering { // a meter of its own counts the generation for all parts
				sub.compensation.Type = FeedIn
			}
			c.doubts |= sub.doubts
			if c.compensation.Type == NoExport {
				c.compensation = sub.compensation
			}
		case lead == NetMetering:
			sub.compensation.Type = NetMetering
		default:
			sub.compensation.Type = NoExport
		}
	}
	return c, nil
}

// addUp sets the import and export price of interval i of a composed plan: the sums of the
// parts' rounded prices, with the lowest confidence.
func (c *card) addUp(q *quote, i int) {
	q.confidence = 1
	clear(c.quotes)
	for k, sub := range c.parts {
		part := &c.quotes[k]
		sub.base = c.baseOf(k)
		sub.energy(part, i)
		if c.pricer.err == nil {
			c.pricer.err = sub.pricer.err
		}
		q.imports += part.imports
		q.exports += part.exports
		q.confidence = min(q.confidence, part.confidence)
	}
	q.imports, q.exports = roundPrice(q.imports), roundPrice(q.exports)
}

// baseOf returns the base of part k. The earlier parts are quoted.
func (c *card) baseOf(k int) (b base) {
	parts := c.pricer.in.Parts
	for j := range k {
		if !parts[k].Adjusts(&parts[j].PlanPart) {
			continue
		}
		b.imports += c.quotes[j].imports
		b.credit += c.parts[j].credit(&c.quotes[j], c.quotes[j].imports)
		if c.parts[j].compensation.Type == NetMetering || parts[j].Role == RoleAdjustment {
			b.exports += c.quotes[j].exports
		}
	}
	return b
}

// source names the tariffs that the prices come from.
func (c *card) source() string {
	if c.parts == nil {
		return c.ownSource()
	}
	names := make([]string, len(c.parts))
	for i, sub := range c.parts {
		names[i] = sub.source()
	}
	return strings.Join(names, " + ")
}

// PartReason is the section of a composed plan's part in a Reason. Its kind is the part's
// role, its name the part's plan, its rate the part's import price.
type PartReason struct {
	Part
	ExportRate float64 `json:"exportRate" doc:"The part's share of the export price, in $/kWh."`
	Section
}

// explainParts adds the sections of a composed plan's parts to a reason. Its import and
// export list the parts' subtotals.
func (c *card) explainParts(i int, r *Reason) {
	for k, sub := range c.parts {
		part, amounts := &c.pricer.in.Parts[k], &c.quotes[k]
		subtotal := Part{PartKind(part.Role), part.PlanID, amounts.imports}
		r.Parts = append(r.Parts, PartReason{Part: subtotal, ExportRate: amounts.exports, Section: sub.reason(i, amounts).Section})
		r.Import = append(r.Import, subtotal)
		if amounts.exports != 0 {
			r.Export = append(r.Export, Part{subtotal.Kind, part.PlanID, amounts.exports})
		}
	}
	lead := &r.Parts[c.pricer.lead]
	r.Day, r.Calendar, r.Period = lead.Day, lead.Calendar, lead.Period
}

// String returns the section in one line for people.
func (r PartReason) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (", r.Name, money(r.Rate))
	r.write(&b)
	return b.String() + ")"
}
