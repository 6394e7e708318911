package pricing

import "math"

// Usage is what is metered or assumed of a home's consumption. It decides which
// tier of a period the next kWh falls in. Its zero value is a home that uses
// nothing, which always pays the first tier.
type Usage struct {
	// DailyKWh is the assumed consumption, kWh a day, spread evenly.
	DailyKWh float64
	// MonthToDateKWh was metered in the billing month of AsOf, from its first
	// day to the start of the day AsOf. It counts only where AsOf is given.
	MonthToDateKWh float64
	AsOf           Date
	// BillingDay is the day of the month on which a billing month starts, 1 to
	// 28; 0 means 1. Tiers start anew on it.
	BillingDay int
	// BaselineDailyKWh is the home's baseline allowance, kWh a day; 0 means that
	// of the tariff.
	BaselineDailyKWh float64
}

// BillingMonth gives the first day of the billing month that d is in, and its
// length in days. Billing months start on the given day of each month, 1 to 28;
// any other number counts as 1.
func BillingMonth(d Date, billingDay int) (start Date, days int) {
	if billingDay < 1 || billingDay > 28 {
		billingDay = 1
	}
	start = Date{Year: d.Year, Month: d.Month, Day: billingDay}
	if d.Day < billingDay {
		start = start.addMonths(-1)
	}
	return start, int(start.addMonths(1).dayNumber() - start.dayNumber())
}

// meter is the home's running total in one billing month, for one local day.
type meter struct {
	kwh      float64 // since the billing month began, at the start of the day
	daily    float64 // what the day adds
	days     float64 // length of the billing month
	baseline float64 // allowance, kWh a day
}

// on reads the meter for a day of a tariff. It depends on the day alone and not
// on the window, so that widening a window changes no price.
func (u *Usage) on(day localDay, v *version) meter {
	start, days := BillingMonth(day.date, u.BillingDay)
	m := meter{daily: u.DailyKWh, days: float64(days), baseline: v.baseline[day.month]}
	if u.BaselineDailyKWh > 0 {
		m.baseline = u.BaselineDailyKWh
	}
	m.kwh = u.DailyKWh * float64(day.number-start.dayNumber())
	if u.AsOf.IsZero() {
		return m
	}
	if metered, _ := BillingMonth(u.AsOf, u.BillingDay); metered != start {
		return m
	}
	asOf, first := u.AsOf.dayNumber(), start.dayNumber()
	switch {
	case day.number >= asOf:
		m.kwh = u.MonthToDateKWh + u.DailyKWh*float64(day.number-asOf)
	default: // before the reading: in proportion to the days
		share := float64(day.number-first) / float64(asOf-first)
		m.kwh = u.MonthToDateKWh * share
		m.daily = u.MonthToDateKWh / float64(asOf-first)
	}
	return m
}

// at is the running total when a quarter hour of the day starts.
func (m *meter) at(quarter int) float64 {
	return m.kwh + m.daily*float64(quarter)/quartersADay
}

// tier gives the tier that the next kWh falls in after the given usage.
func (m *meter) tier(tiers []Tier, kwh float64) int {
	last := len(tiers) - 1
	for i := range last {
		if bound := m.bound(tiers[i]); kwh < bound {
			return i
		}
	}
	return last
}

// bound is a tier's upper bound in kWh of the billing month.
func (m *meter) bound(t Tier) float64 {
	switch {
	case t.Max == nil:
		return math.Inf(1)
	case t.Unit == UnitKWhDaily:
		return *t.Max * m.days
	case t.Unit == UnitBaseline:
		return *t.Max * m.baseline * m.days
	}
	return *t.Max
}
