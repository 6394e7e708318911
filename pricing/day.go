package pricing

// Day is what a tariff says of one local day. It is read-only.
type Day struct {
	Weekend bool // priced as a weekend: a Saturday, a Sunday or a holiday
	// Rate is the sum of the riders' rates, $/kWh, and Tax that of the taxes as a
	// share of the price before them.
	Rate, Tax float64
	// Uncredited is the part of the price, before taxes, that net metering does
	// not pay back, $/kWh.
	Uncredited float64
	Info       TariffInfo // of the version in force

	row     *[quartersADay]uint16
	version *version
	day     localDay
}

// On gives what the tariff says of a day, and false when it is not in force.
func (t *Tariff) On(d Date) (Day, bool) {
	number := d.dayNumber()
	v := t.on(number)
	if v == nil {
		return Day{}, false
	}
	return v.dayOn(newLocalDay(number)), true
}

// AnyDay is On with the newest version, whether in force or not: for a typical
// year, which has the weekdays of some year and stands for all.
func (t *Tariff) AnyDay(d Date) Day { return t.newest().dayOn(newLocalDay(d.dayNumber())) }

func (v *version) dayOn(day localDay) Day {
	sum := v.addersOn(day.number)
	return Day{
		Weekend: day.weekend || v.holidays.contains(day),
		Rate:    sum.rate, Tax: sum.tax, Uncredited: sum.uncredited, Info: v.info,
		row: v.row(day), version: v, day: day,
	}
}

// Period is the period of a quarter hour of the day, 0 to 95.
func (d *Day) Period(quarter int) int { return int(d.row[quarter]) }

// WeekdayPeriod is the period of a quarter hour on weekdays of the day's month.
func (d *Day) WeekdayPeriod(quarter int) int {
	return int(d.version.weekday[d.day.month][quarter])
}

// Tiers are the tiers of a period of the tariff.
func (d *Day) Tiers(period int) []Tier { return cloneTiers(d.version.periods[period]) }

// Periods is how many periods the tariff has.
func (d *Day) Periods() int { return len(d.version.periods) }

// Bound is the upper bound of a tier in kWh of a billing month of the given
// length in days, +Inf where there is none. A baseline of 0 is the tariff's own
// in the month of the day.
func (d *Day) Bound(t Tier, days int, baselineDailyKWh float64) float64 {
	m := meter{days: float64(days), baseline: baselineDailyKWh}
	if m.baseline == 0 {
		m.baseline = d.version.baseline[d.day.month]
	}
	return m.bound(t)
}
