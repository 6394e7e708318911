package pricing

import (
	"fmt"
	"math"
	"strings"
)

// doubts is a set of reasons why a price may not come true, one bit each. A card has the
// doubts that may change a price of its day, a quote the doubts that do.
type doubts uint16

const (
	doubtfulSource   doubts = 1 << iota // the tariff's source is old or has a caveat
	unknownHolidays                     // the plan may price the weekday as a weekend
	marketForecast                      // the market's price is not published
	unknownUsage                        // the home may be in another tier
	varyingEmissions                    // single hours differ from their mean
	unknownRegime                       // another net-metering regime may hold
	unknownCredit                       // the regime may also credit the uncredited charges
	otherYear                           // the export values are of another year
	unknownVintage                      // the home may have another vintage of export values
)

// The confidence in prices that a doubt changes. Other doubts have a confidence of their
// own in each interval.
const (
	// holidayAsWeekday is the confidence in a weekday's price on a federal holiday, if the
	// source names no holidays. The tariff sheets of PG&E, SCE and SDG&E price 3 of the 11
	// federal holidays as weekdays.
	holidayAsWeekday = 0.27
	// otherRegime is the confidence in prices that another regime would change. It is the
	// share of applications under net billing at the utilities that bill new homes, by the
	// years of package regime: most homes applied before.
	otherRegime = 0.3
	// eitherRegime is the confidence in prices that differ between two possible regimes, as
	// no source says how many homes are in either of them.
	eitherRegime = 0.5
	// otherVintage is the confidence in prices that another vintage of export values would
	// change. It is the share of hours of 2026 in which the values of PG&E's NBT24 and NBT26
	// differ by at most a tenth.
	otherVintage = 0.16
	// otherValues is the confidence in export values taken from another year or vintage.
	otherValues = 0.7
)

// add adds a doubt that limits the confidence in a price. A limit of 1 is no doubt.
func (q *quote) add(d doubts, limit float64) {
	if limit < 1 {
		q.doubts |= d
		q.confidence = min(q.confidence, limit)
	}
}

// weigh adds a doubt that would change a price by more than a tenth.
func (q *quote) weigh(d doubts, limit, change, price float64) {
	if change > alike*math.Abs(price) {
		q.add(d, limit)
	}
}

// weighExports adds the doubts in the earnings of exports. The exports of an unknown regime
// earn between nothing and the credit of net metering. The values of a missing vintage may
// be anything.
func (c *card) weighExports(q *quote) {
	metered := c.compensation.Type == NetMetering
	if c.doubts&unknownRegime != 0 {
		other := 0.0
		if !metered {
			other = q.exports
		}
		q.weigh(unknownRegime, otherRegime, q.chance*math.Abs(c.credit(q, q.imports)-other), q.price)
	}
	if c.doubts&unknownCredit != 0 && metered {
		q.weigh(unknownCredit, eitherRegime, q.chance*math.Abs(c.uncredited()), q.price)
	}
	if c.doubts&unknownVintage != 0 {
		q.weigh(unknownVintage, otherVintage, q.chance*math.Abs(q.exports), q.price)
	}
}

// doubt returns the reasons for reduced confidence in a price. The parts of a composed plan
// have the doubts in their tariffs.
func (c *card) doubt(q *quote) string {
	var words []string
	for k, sub := range c.parts {
		if doubt := sub.doubt(&c.quotes[k]); doubt != "" {
			words = append(words, c.pricer.in.Parts[k].PlanID+": "+doubt)
		}
	}
	for d := doubts(1); d <= q.doubts; d <<= 1 {
		if q.doubts&d != 0 {
			words = append(words, c.words(d, q))
		}
	}
	return strings.Join(nonEmpty(words...), "; ")
}

// words describes a doubt. It is empty if the parts of a composed plan describe it.
func (c *card) words(d doubts, q *quote) string {
	switch d {
	case doubtfulSource:
		return c.version.sourceDoubt(c.day)
	case unknownHolidays:
		return "the plan's source names no holidays: the weekday price of this holiday may be too high"
	case marketForecast:
		return "the market's price is a forecast"
	case unknownUsage:
		return fmt.Sprintf("the home's usage is not known: the first of %d tiers is assumed", len(c.version.Periods[q.period]))
	case varyingEmissions:
		return "emissions of the hour vary about their mean"
	case unknownRegime:
		return "the net-metering regime of the home is not known"
	case unknownCredit:
		return c.pricer.in.Solar.Regime.CreditDoubt()
	case otherYear:
		return "the export values belong to another year"
	}
	return c.vintage.Doubt() // unknownVintage
}
