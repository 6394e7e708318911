package pricing

// exports is what one kWh sent out earns in an interval.
func (c *card) exports(q *quote, t *Tier, imports float64, quarter int) float64 {
	switch {
	case c.compensation.Type == NetMetering:
		return imports - q.rebate - c.adders.uncredited*(1+c.adders.tax)
	case c.compensation.Type == NetBilling && c.version.values != nil:
		return c.avoided(q, quarter)
	case c.compensation.Type == Wholesale:
		return q.market.Value
	}
	return t.Sell
}

// avoided is the utility's avoided cost in an hour. Values of a year that is not
// published are those of the nearest one, in which less confidence is had.
func (c *card) avoided(q *quote, quarter int) float64 {
	v := c.version.values.At(c.day.date.Year, c.day.date.Month, c.avoidedWeekend, quarter/quartersAnHour)
	if !v.Published {
		q.confidence = min(q.confidence, unpublishedYear)
	}
	return v.Total()
}

// unpublishedYear is the confidence in export values taken from another year.
const unpublishedYear = 0.7

// avoidedHolidays are the holidays that the values count as weekend.
var avoidedHolidays = holidays{federal: newYearsDay | presidentsDay | memorialDay | independenceDay |
	laborDay | veteransDay | thanksgivingDay | christmasDay}
