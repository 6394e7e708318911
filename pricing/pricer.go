package pricing

import (
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
)

const quartersAnHour = 4

// pricer walks a window and says what each interval costs, and why. Price and
// Explain both ask it, so that a reason never tells of another number.
type pricer struct {
	in     *Input
	window Window
	start  int64 // of the window, Unix seconds
	clock  wallClock
	events []occasion
	chance *solar.Chance // nil when the home is taken as importing
	err    error         // the first interval that could not be priced
}

func newPricer(in *Input, w Window) (*pricer, error) {
	switch {
	case in.Tariff == nil:
		return nil, ErrNoTariff
	case in.Location == nil:
		return nil, ErrNoLocation
	case !w.whole():
		return nil, ErrWindow
	}
	p := &pricer{in: in, window: w, start: w.Start.Unix(), clock: newWallClock(w, in.Location), events: occasionsIn(in.Events, w)}
	if in.Solar != nil {
		p.chance = in.ExportChance
	}
	return p, nil
}

// card is what the intervals of one stretch have in common.
type card struct {
	pricer       *pricer
	stretch      stretch
	day          localDay
	version      *version
	row          *[quartersADay]uint16
	meter        meter
	adders       adders
	compensation ExportCompensation
	confidence   float64
	market       bool // prices of the market are needed
	// avoidedWeekend is whether avoided costs count the day as a weekend.
	avoidedWeekend bool
}

// card looks up what holds on the day of a stretch.
func (p *pricer) card(s stretch) (*card, error) {
	v := p.in.Tariff.on(s.day)
	if v == nil {
		return nil, p.in.Tariff.notInForce(p.window.At(s.first))
	}
	c := &card{pricer: p, stretch: s, day: newLocalDay(s.day), version: v}
	c.row = v.row(c.day)
	c.adders = v.addersOn(s.day)
	c.compensation = v.compensationFor(p.in)
	c.market = v.passthrough != nil || c.compensation.Type == Wholesale
	if c.market && p.in.Market == nil {
		return nil, p.noMarket(v, s.first)
	}
	if v.values != nil {
		c.avoidedWeekend = c.day.weekend || avoidedHolidays.contains(c.day)
	}
	c.confidence = 1 - v.doubt[c.day.month]
	if v.tiered {
		c.meter = p.in.Usage.on(c.day, v)
	}
	return c, nil
}

// quote is the price of one interval and what it is made of. Money is $/kWh.
type quote struct {
	period, tier int
	rate         float64 // of the tier, with its adjustment
	market       market.Price
	wholesale    float64 // market price with losses and adder, where the tariff passes it through
	tariff       float64 // rate, riders and taxes: the price without events
	rebate       float64 // the part of imports that only not using energy earns
	chance       float64 // of exporting
	carbon       float64 // cost of the marginal emissions

	imports, exports, price, confidence float64 // as in the curve
}

// quote prices interval i of the window, which the card's stretch holds.
func (c *card) quote(i int) quote {
	quarter := c.stretch.quarter + i - c.stretch.first
	q := quote{period: int(c.row[quarter]), confidence: c.confidence}
	tiers := c.version.periods[q.period]
	if len(tiers) > 1 {
		q.tier = c.meter.tier(tiers, c.meter.at(quarter))
	}
	q.rate = tiers[q.tier].Price()
	at := c.pricer.start + int64(i)*intervalSeconds
	if c.market {
		c.ask(&q, at, i)
	}
	q.tariff = (q.rate + q.wholesale + c.adders.rate) * (1 + c.adders.tax)
	imports := q.tariff
	if len(c.pricer.events) > 0 {
		imports, q.rebate = applyEvents(c.pricer.events, at, imports)
	}
	q.imports = roundPrice(imports)
	q.exports = roundPrice(c.exports(&q, &tiers[q.tier], imports, quarter))
	c.expect(&q, at, quarter)
	return q
}

// expect weighs import and export, and adds the cost of carbon.
func (c *card) expect(q *quote, at int64, quarter int) {
	q.price = q.imports
	if c.pricer.chance != nil && c.compensation.Type != FeedIn {
		q.chance = c.pricer.chance.At(at)
		q.price = q.chance*q.exports + (1-q.chance)*q.imports
	}
	if region := c.pricer.in.Carbon; region != nil {
		q.carbon = c.pricer.in.CarbonIntensity.Cost(region.Rate(c.day.date.Month, quarter/quartersAnHour))
		q.price += q.carbon
	}
	q.price = roundPrice(q.price)
}
