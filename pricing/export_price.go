package pricing

import "github.com/gridhook/gridhook/pricing/netbilling"

// exports returns the earnings of one exported kWh in an interval.
func (c *card) exports(q *quote, t *Tier, imports float64, quarter int) float64 {
	switch {
	case c.compensation.Type == NetMetering:
		return c.credit(q, imports) - c.adders.tax*(c.base.credit-c.base.exports)
	case c.compensation.Type == NetBilling && c.version.ExportValues != nil:
		return c.avoided(q, quarter)
	case c.compensation.Type == Wholesale:
		return q.market.Value
	case c.compensation.Type == NoExport:
		return c.adders.tax * c.base.exports
	}
	return t.Sell
}

// credit returns the earnings of one exported kWh under net metering.
func (c *card) credit(q *quote, imports float64) float64 {
	if c.parts != nil {
		sum := 0.0
		for i, part := range c.parts {
			sum += part.credit(&c.quotes[i], c.quotes[i].imports)
		}
		return sum
	}
	return imports - q.rebate - c.uncredited() - c.adders.tax*(c.base.imports-c.base.credit)
}

// uncredited returns the charges, $/kWh, that net metering does not credit.
func (c *card) uncredited() float64 {
	if c.parts == nil {
		return c.adders.uncredited * (1 + c.adders.tax)
	}
	sum := 0.0
	for _, part := range c.parts {
		sum += part.uncredited()
	}
	return sum
}

// vintage returns the export values that net billing pays the home by a version of its
// tariff: the values that the home names, or else the values of its application's year.
func (s *Solar) vintage(v *version) netbilling.Vintage {
	if s == nil || v.ExportValues == nil || v.ownValues {
		return netbilling.Vintage{Values: v.ExportValues, Certain: true}
	}
	return v.ExportValues.Vintage(s.AppliedFrom, s.AppliedTo)
}

// VintageDoubt says why net billing may pay the home by other export values than the
// home's bill and signal use. It is empty without doubt.
func (in *Input) VintageDoubt() string {
	chosen := in.Solar.vintage(in.Tariff.newest())
	return chosen.Doubt()
}

// chooseValues selects the export values of the home's vintage.
func (c *card) chooseValues() {
	v := c.version
	if c.vintage = c.pricer.in.Solar.vintage(v); v.ExportValues == nil {
		return
	}
	c.avoidedWeekend = c.day.weekend || v.exportDays.contains(c.day)
	if c.compensation.Type == NetBilling {
		if !c.vintage.Certain {
			c.doubts |= unknownVintage
		}
		if c.vintage.Values != v.ExportValues {
			c.compensation.Description = avoidedCost(c.vintage.Values)
		}
	}
}

// avoidedValue returns the avoided cost of an hour by the home's vintage.
func (c *card) avoidedValue(quarter int) netbilling.Value {
	return c.vintage.At(c.day.date.Year, c.day.date.Month, c.avoidedWeekend, quarter/quartersAnHour)
}

// avoided returns the utility's avoided cost in an hour, with the home's adder. For an
// unpublished year it uses the nearest published year. It reduces the confidence in values
// of another year or vintage.
func (c *card) avoided(q *quote, quarter int) float64 {
	v := c.avoidedValue(quarter)
	if !v.Published && c.pricer.in.Solar != nil {
		q.add(otherYear, otherValues)
	}
	if c.doubts&unknownVintage != 0 {
		q.add(unknownVintage, otherValues)
	}
	return v.Total() + c.adder()
}

// adder returns the home's net billing adder on every avoided cost of the day.
func (c *card) adder() float64 {
	s := c.pricer.in.Solar
	if s == nil || s.AccPlus == "" {
		return 0
	}
	return c.vintage.Adder(s.AccPlus, s.ConnectionYear, c.day.date.Year)
}

// calendarOfExports returns the holidays that avoided costs treat as weekend. They are
// the tariff's holidays, so that both directions have one calendar. Without such holidays
// it returns the utility's calendar.
func (v *version) calendarOfExports() Holidays {
	if v.Holidays.federal != 0 || len(v.Holidays.days) > 0 {
		return v.Holidays
	}
	return Holidays{
		federal:       californiaHolidays,
		SaturdaysStay: v.Holidays.SaturdaysStay || !v.ExportValues.MovesSaturdays(),
	}
}
