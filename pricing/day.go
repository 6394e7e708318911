package pricing

import (
	"slices"
	"time"
)

// Day holds a tariff's prices and charges on one local day. It is read-only.
type Day struct {
	Weekend bool // priced as a weekend: a Saturday, a Sunday or a holiday
	// Rate is the sum of the riders' rates, $/kWh. Tax is the sum of the taxes as a share
	// of the price before taxes.
	Rate, Tax float64
	// Uncredited is the part of the price, before taxes, that net metering does not
	// credit, $/kWh.
	Uncredited float64
	Info       TariffInfo // of the version in force

	row     *[QuartersADay]uint16
	version *version
	day     localDay
}

// On returns the tariff's Day of a date, and false if the tariff is not in force.
func (t *Tariff) On(d Date) (Day, bool) {
	number := d.dayNumber()
	v := t.on(number)
	if v == nil {
		return Day{}, false
	}
	return v.dayOn(newLocalDay(number)), true
}

// AnyDay is like On, but uses the newest version even if it is not in force. Typical
// years need it: they have the weekdays of some year and stand for all years.
func (t *Tariff) AnyDay(d Date) Day { return t.newest().dayOn(newLocalDay(d.dayNumber())) }

func (v *version) dayOn(day localDay) Day {
	sum, weekend := v.addersOn(day), v.asWeekend(day)
	return Day{
		Weekend: weekend, Rate: sum.rate, Tax: sum.tax, Uncredited: sum.uncredited, Info: v.Info,
		row: v.row(day.month, weekend), version: v, day: day,
	}
}

// Period returns the period of a quarter hour of the day, 0 to 95.
func (d *Day) Period(quarter int) int { return int(d.row[quarter]) }

// PeriodIn returns the period of a quarter hour in any month, by the version of the day.
func (d *Day) PeriodIn(month time.Month, weekend bool, quarter int) int {
	return int(d.version.row(int(month)-1, weekend)[quarter])
}

// SameVersion reports whether both days have the same version of the tariff.
func (d *Day) SameVersion(other *Day) bool { return d.version == other.version }

// Demand returns the day's demand charges.
func (d *Day) Demand() *Demand { return &d.version.Demand }

// DemandPeriod returns the period of TimeOfUse for a quarter hour of the day.
func (d *Day) DemandPeriod(quarter int) int {
	return int(d.version.Demand.row(d.day.month, d.Weekend)[quarter])
}

// Tiers returns a copy of a period's tiers.
func (d *Day) Tiers(period int) []Tier {
	copied := slices.Clone(d.version.Periods[period])
	for i, tier := range copied {
		if tier.Max != nil {
			copied[i].Max = new(*tier.Max)
		}
	}
	return copied
}

// Periods returns the number of periods of the tariff.
func (d *Day) Periods() int { return len(d.version.Periods) }

// Bound returns the upper bound of a tier in kWh of the home's billing month, +Inf if
// unbounded.
func (d *Day) Bound(t Tier, u *Usage) float64 {
	m, _ := u.limits(d.day, d.version)
	return m.bound(t)
}
