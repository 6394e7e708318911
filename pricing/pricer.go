package pricing

import (
	"math"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/solar"
)

const quartersAnHour = 4

// alike is the relative tolerance of prices that count as the same. A confidence is the
// share of prices that come true within this tolerance.
const alike = 0.1

// pricer calculates the price of each interval of a window and its reason. Price and
// Explain both use it, so that a reason always matches its price.
type pricer struct {
	in     *Input
	window Window
	start  int64 // of the window, Unix seconds
	events []occasion
	chance *solar.Chance // nil if the home is assumed to import
	err    error         // error of the first interval without a price
	parts  []*pricer     // of a composed plan
	lead   int           // index of the lead part
	quote  quote         // of the present interval
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
	p := &pricer{in: in, window: w, start: w.Start.Unix(), events: occasionsIn(in.Events, w)}
	if in.Solar != nil {
		p.chance = in.ExportChance
	}
	if len(in.Parts) > 0 {
		return p, p.addParts()
	}
	return p, nil
}

// each prices the intervals of the window in order. It calls f for each of them with its card,
// while quote has its price.
func (p *pricer) each(f func(c *card, i int)) error {
	for s := range Stretches(p.window, p.in.Location) {
		card, err := p.card(s)
		if err != nil {
			return err
		}
		for i := s.First; i < s.First+s.Count; i++ {
			if card.quote(&p.quote, i); p.err != nil {
				return p.err
			}
			f(card, i)
		}
	}
	return nil
}

// card holds the shared inputs of one stretch's intervals.
type card struct {
	pricer       *pricer
	stretch      Stretch
	day          localDay
	version      *version
	row          *[QuartersADay]uint16
	meter        meter
	adders       adders
	compensation ExportCompensation
	doubts       doubts    // they may change a price of the day
	confidence   float64   // in the source of the version
	unmetered    []float64 // confidence by period, if the usage is unknown
	market       bool      // prices of the market are needed
	vintage      netbilling.Vintage
	// avoidedWeekend reports whether avoided costs treat the day as a weekend.
	avoidedWeekend bool
	base           base // of an adjustment, in the quoted interval
	// parts are the cards of a composed plan, and quotes their prices in the quoted
	// interval. version, row, meter and adders are then unset.
	parts  []*card
	quotes []quote
}

// card returns the card of a stretch.
func (p *pricer) card(s Stretch) (*card, error) {
	if p.parts != nil {
		return p.composedCard(s)
	}
	v := p.in.Tariff.on(s.Day)
	if v == nil {
		return nil, p.in.Tariff.notInForce(p.window.At(s.First))
	}
	c := &card{pricer: p, stretch: s, day: newLocalDay(s.Day), version: v}
	c.adders = v.addersOn(c.day)
	c.row = v.row(c.day.month, v.asWeekend(c.day))
	if v.HolidaysUnknown && !c.day.weekend && observed(c.day, false) != 0 { // the plan may price it as a weekend
		c.doubts = unknownHolidays
	}
	c.compensation = v.compensationFor(p.in, c.day.date)
	c.applyRegime()
	c.market = v.Passthrough != nil || c.compensation.Type == Wholesale
	if c.market && p.in.Market == nil {
		return nil, p.noMarket(v, s.First)
	}
	c.chooseValues()
	c.confidence = min(1-v.Doubt[c.day.month], v.freshness(s.Day))
	if v.tiered {
		c.meter = p.in.Usage.on(c.day, v, c.compensation.Type == NetMetering)
		if !c.meter.known {
			c.unmetered = make([]float64, len(v.Periods))
			for i, tiers := range v.Periods {
				c.unmetered[i] = c.meter.unmetered(tiers)
			}
		}
	}
	return c, nil
}

// quote is the price of one interval with its parts. Money is $/kWh.
type quote struct {
	period, tier int
	rate         float64 // of the tier, with its adjustment
	market       market.Price
	wholesale    float64 // market price with losses and adder, if the tariff passes it through
	tariff       float64 // rate, riders and taxes on them: the price without events
	rebate       float64 // the part of imports that only saved energy earns
	chance       float64 // of exporting
	carbon       float64 // cost of the marginal emissions
	doubts       doubts

	imports, exports, price, confidence float64 // as in the curve
}

// quote prices interval i of the window. The interval must be in the card's stretch.
func (c *card) quote(q *quote, i int) {
	*q = quote{}
	if c.parts != nil {
		c.addUp(q, i)
	} else {
		c.energy(q, i)
	}
	c.expect(q, c.pricer.start+int64(i)*intervalSeconds, c.stretch.Quarter+i-c.stretch.First)
}

// energy sets the import and export price of interval i.
func (c *card) energy(q *quote, i int) {
	quarter := c.stretch.Quarter + i - c.stretch.First
	q.period, q.confidence = int(c.row[quarter]), 1
	q.add(doubtfulSource, c.confidence)
	tiers := c.version.Periods[q.period]
	if len(tiers) > 1 {
		q.tier = c.meter.tier(tiers, c.meter.at(quarter))
		if !c.meter.known {
			q.add(unknownUsage, c.unmetered[q.period])
		}
	}
	q.rate = tiers[q.tier].Price()
	at := c.pricer.start + int64(i)*intervalSeconds
	if c.market {
		c.ask(q, at, i)
	}
	q.tariff = (q.rate + q.wholesale + c.adders.rate) * (1 + c.adders.tax)
	if c.doubts&unknownHolidays != 0 {
		c.weighHoliday(q, quarter)
	}
	imports := q.tariff
	if len(c.pricer.events) > 0 {
		var replaced bool
		if imports, q.rebate, replaced = applyEvents(c.pricer.events, at, imports); replaced && !c.sells() {
			q.doubts, q.confidence = 0, 1 // the announced price is certain
		}
	}
	imports += c.base.imports * c.adders.tax
	q.imports = roundPrice(imports)
	q.exports = roundPrice(c.exports(q, &tiers[q.tier], imports, quarter))
}

// expect calculates the expected price: it weights import and export, and adds the cost
// of carbon. The doubts in exports are weighed against this price.
func (c *card) expect(q *quote, at int64, quarter int) {
	q.price = q.imports
	if c.pricer.chance != nil && c.compensation.Type != FeedIn {
		q.chance = c.pricer.chance.At(at)
		q.price = q.chance*q.exports + (1-q.chance)*q.imports
	}
	if region := c.pricer.in.Carbon; region != nil {
		intensity := c.pricer.in.CarbonIntensity
		rate, published := MarginalEmissions(region, c.pricer.in.Emissions, at, c.day.date.Month, quarter/quartersAnHour)
		q.carbon = intensity.Cost(rate)
		q.price += q.carbon
		if perPound := intensity.Cost(1); perPound > 0 && !published {
			q.add(varyingEmissions, region.Within(alike*math.Abs(q.price)/perPound))
		}
	}
	c.weighExports(q)
	q.price = roundPrice(q.price)
}
