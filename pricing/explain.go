package pricing

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// PartKind is the origin of a part of a price.
type PartKind string

// The values of PartKind.
const (
	PartEnergy   PartKind = "ENERGY"   // rate of a period's tier
	PartMarket   PartKind = "MARKET"   // published price of a market
	PartForecast PartKind = "FORECAST" // forecast price of a market
	PartRider    PartKind = "RIDER"
	PartTax      PartKind = "TAX"
	PartEvent    PartKind = "EVENT"
	PartCredit   PartKind = "CREDIT"  // import price that net metering credits
	PartKept     PartKind = "KEPT"    // charges that net metering does not credit
	PartSell     PartKind = "SELL"    // sell rate of a period's tier
	PartAvoided  PartKind = "AVOIDED" // avoided cost of the hour
)

// PartKinds returns all values of PartKind. A part of a composed plan has the kind of its role.
func PartKinds() []PartKind {
	return []PartKind{
		PartEnergy, PartMarket, PartForecast, PartRider, PartTax, PartEvent, PartCredit, PartKept, PartSell, PartAvoided,
		PartKind(RoleDelivery), PartKind(RoleGeneration), PartKind(RoleAdjustment),
	}
}

// Part is one of the amounts that add up to a price.
type Part struct {
	Kind PartKind `json:"kind"`
	Name string   `json:"name"`
	Rate float64  `json:"rate" doc:"The amount, in $/kWh."`
}

// Section explains the prices of one interval by one tariff.
type Section struct {
	Tariff   string `json:"tariff" doc:"The version of the rate plan in force."`
	Day      string `json:"day" doc:"The kind of day: a weekday, a weekend or a holiday."`
	Calendar string `json:"calendar,omitempty" doc:"The rate plan's holiday calendar, and when a holiday at a weekend is observed. Absent if the plan has no calendar." example:"PG&E, observed on Monday for a Sunday and on Friday for a Saturday"`
	Period   string `json:"period" doc:"The tariff's period of use."`
	Tier     string `json:"tier,omitempty" doc:"The tier of the price, with the usage that led to it. Absent if the period has one tier."`
	// Import and Export add up to the interval's prices, to within rounding.
	Import []Part `json:"import" doc:"The components of the import price."`
	Export []Part `json:"export" doc:"The components of the export price."`
}

// Reason lists the parts of one interval's prices.
type Reason struct {
	Start time.Time `json:"-"`
	Section
	// Parts are the sections of a composed plan's parts. Import and Export then have an
	// element for each part.
	Parts        []PartReason `json:"parts,omitempty" doc:"A section for each part of a composed rate plan, with its subtotals. import and export then have one element per part. Absent for a plan with a tariff."`
	ExportChance float64      `json:"exportChance" doc:"The probability that the home exports in the interval."`
	Measured     bool         `json:"measured,omitempty" doc:"Whether exportChance is from the home's measured load."`
	Carbon       float64      `json:"carbon" doc:"The cost of the emissions of one more kWh, in $/kWh."`
	Price        float64      `json:"price" doc:"The expected price, in $/kWh." example:"0.1423"`
	Confidence   float64      `json:"confidence" example:"1"`
	Doubt        string       `json:"doubt,omitempty" doc:"Why confidence is below 1. Absent if it is 1."`
}

// Explain returns the reason for each interval's prices in a window. A reason names the
// period, tier, riders, events, market hour or forecast. Explain returns the same errors
// as Price.
func Explain(in Input, w Window) ([]Reason, error) {
	p, err := newPricer(&in, w)
	if err != nil {
		return nil, err
	}
	reasons := make([]Reason, 0, w.Len())
	if err := p.each(func(card *card, i int) { reasons = append(reasons, card.reason(i, &p.quote)) }); err != nil {
		return nil, err
	}
	return reasons, nil
}

// reason returns the Reason of a quote.
func (c *card) reason(i int, q *quote) Reason {
	quarter := c.stretch.Quarter + i - c.stretch.First
	r := Reason{
		Start: c.pricer.window.At(i), Section: Section{Tariff: c.source(), Import: []Part{}, Export: []Part{}},
		ExportChance: q.chance, Measured: q.chance > 0 && c.pricer.chance.Metered(c.day.date.Month), Carbon: q.carbon, Price: q.price, Confidence: q.confidence, Doubt: c.doubt(q),
	}
	if c.parts != nil {
		c.explainParts(i, &r)
		return r
	}
	r.Day, r.Calendar, r.Period = c.dayName(), c.version.Holidays.String(), c.version.periodName(q.period)
	if tiers := c.version.Periods[q.period]; len(tiers) > 1 {
		measured := ""
		if c.meter.metered {
			measured = "measured "
		}
		r.Tier = fmt.Sprintf("%d of %d, at %.0f %skWh of the month", q.tier+1, len(tiers), c.meter.at(quarter), measured)
	}
	r.Import = append(r.Import, c.importParts(i, q, &r)...)
	r.Export = append(r.Export, c.exportParts(q, quarter, &r)...)
	return r
}

func (c *card) dayName() string {
	switch {
	case c.version.Holidays.contains(c.day) && !c.day.weekend:
		return "holiday"
	case c.day.weekend:
		return "weekend"
	}
	return "weekday"
}

// importParts returns the parts of an import price.
func (c *card) importParts(i int, q *quote, r *Reason) []Part {
	var parts []Part
	if q.rate != 0 || c.version.Passthrough == nil {
		parts = append(parts, Part{PartEnergy, r.Period, q.rate})
	}
	parts = append(parts, c.marketParts(q)...)
	before := c.base.imports + q.rate + q.wholesale + c.adders.rate
	for j := range c.version.Riders {
		rider := &c.version.Riders[j]
		switch {
		case !rider.inForce(c.day):
		case rider.Percent != 0:
			parts = append(parts, Part{PartTax, rider.Name, before * rider.Percent / 100})
		default:
			parts = append(parts, Part{PartRider, rider.Name, rider.Rate})
		}
	}
	return append(parts, c.eventParts(i, q)...)
}

// marketParts returns the market's parts of an import price.
func (c *card) marketParts(q *quote) []Part {
	p := c.version.Passthrough
	if p == nil {
		return nil
	}
	kind, name := PartMarket, marketName(c.pricer.in.Market)
	if q.market.Forecast {
		kind, name = PartForecast, name+", forecast"
	}
	parts := []Part{{kind, name, q.market.Value}}
	if loss := q.market.Value * (p.Loss - 1); loss != 0 {
		parts = append(parts, Part{kind, "losses", loss})
	}
	if p.Adder != 0 {
		parts = append(parts, Part{PartRider, "adder to the market price", p.Adder})
	}
	return parts
}

// eventParts returns the events' parts of an import price. A replaced price appears as a
// difference.
func (c *card) eventParts(i int, q *quote) []Part {
	var parts []Part
	at, price := c.pricer.start+int64(i)*intervalSeconds, q.tariff
	for _, o := range c.pricer.events {
		if o.covers(at) && o.event.Price != nil {
			parts = append(parts, Part{PartEvent, o.event.Name, *o.event.Price - price})
			price = *o.event.Price
		}
	}
	for _, o := range c.pricer.events {
		if o.covers(at) && o.event.Price == nil {
			parts = append(parts, Part{PartEvent, o.event.Name, o.event.Adder})
		}
	}
	return parts
}

// exportParts returns the parts of an export price.
func (c *card) exportParts(q *quote, quarter int, r *Reason) []Part {
	switch {
	case c.compensation.Type == NetMetering:
		parts := []Part{{PartCredit, "import price", q.imports}}
		if q.rebate != 0 {
			parts = append(parts, Part{PartKept, "rebates", -q.rebate})
		}
		if kept := c.uncredited(); kept != 0 {
			parts = append(parts, Part{PartKept, "charges on every kWh drawn", -kept})
		}
		if kept := c.adders.tax * (c.base.imports - c.base.exports); kept != 0 {
			parts = append(parts, Part{PartKept, "taxes on uncredited prices", -kept})
		}
		return parts
	case c.compensation.Type == Wholesale && q.market.Forecast:
		return []Part{{PartForecast, marketName(c.pricer.in.Market) + ", forecast", q.market.Value}}
	case c.compensation.Type == Wholesale:
		return []Part{{PartMarket, marketName(c.pricer.in.Market), q.market.Value}}
	case c.compensation.Type == NetBilling && c.version.ExportValues != nil:
		v, name := c.avoidedValue(quarter), c.vintage.String()
		parts := []Part{{PartAvoided, name + " generation", v.Generation}, {PartAvoided, name + " delivery", v.Delivery}}
		if adder := c.adder(); adder != 0 {
			parts = append(parts, Part{PartAvoided, "ACC Plus adder", adder})
		}
		return parts
	case c.compensation.Type == NoExport && q.exports != 0:
		return []Part{{PartCredit, "percentages of credits", q.exports}}
	case c.compensation.Type == NoExport:
		return nil
	}
	return []Part{{PartSell, r.Period, q.exports}}
}

// String returns the reason in one line for people.
func (r Reason) String() string {
	var b strings.Builder
	for i, part := range r.Parts {
		if i > 0 {
			b.WriteString(" + ")
		}
		b.WriteString(part.String())
	}
	if len(r.Parts) == 0 {
		fmt.Fprintf(&b, "%s: ", r.Day)
		r.write(&b)
	}
	if r.ExportChance > 0 {
		fmt.Fprintf(&b, "; exports with probability %.2f", r.ExportChance)
		if r.Measured {
			b.WriteString(" by the measured load")
		}
	}
	if r.Carbon != 0 {
		fmt.Fprintf(&b, "; carbon %s", money(r.Carbon))
	}
	if r.Doubt != "" {
		fmt.Fprintf(&b, "; confidence %.2f: %s", r.Confidence, r.Doubt)
	}
	return b.String()
}

// write writes the period, the tier and the amounts of both prices.
func (s *Section) write(b *strings.Builder) {
	b.WriteString(s.Period)
	if s.Tier != "" {
		fmt.Fprintf(b, ", tier %s", s.Tier)
	}
	for i, p := range s.Import {
		if i == 0 && p.Kind == PartEnergy {
			fmt.Fprintf(b, " %s", money(p.Rate))
			continue
		}
		fmt.Fprintf(b, ", %s %s %s", strings.ToLower(string(p.Kind)), p.Name, money(p.Rate))
	}
	for i, p := range s.Export {
		lead := ","
		if i == 0 {
			lead = "; export:"
		}
		fmt.Fprintf(b, "%s %s %s %s", lead, strings.ToLower(string(p.Kind)), p.Name, money(p.Rate))
	}
}

func money(v float64) string { return string(appendNumber(nil, v)) }

// SameAs reports whether two intervals have the same prices for the same reasons. It
// ignores the usage that selects the tier.
func (r Reason) SameAs(other Reason) bool {
	return reflect.DeepEqual(r.withoutUsage(), other.withoutUsage())
}

// withoutUsage returns the reason without its time, and without the tiers that name the usage.
func (r Reason) withoutUsage() Reason {
	r.Start, r.Tier, r.Parts = time.Time{}, "", slices.Clone(r.Parts)
	for i := range r.Parts {
		r.Parts[i].Tier = ""
	}
	return r
}
