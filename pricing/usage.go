package pricing

import (
	"math"
	"time"

	"github.com/gridhook/gridhook/pricing/solar"
)

// Usage is a home's metered or assumed consumption. It selects the tier of the next kWh.
// The zero value is a home without use. Such a home always pays the first tier, with less
// confidence if the prices of other tiers differ.
type Usage struct {
	// DailyKWh is the assumed consumption, kWh a day, spread evenly.
	DailyKWh float64
	// MonthToDateKWh is metered in the billing month of AsOf, from its first day to the
	// start of the day AsOf. It counts only if AsOf is not zero.
	MonthToDateKWh float64
	AsOf           Date
	// BillingDay is the first day of a billing month, 1 to 28; 0 means 1. The count of
	// usage for tiers restarts on this day.
	BillingDay int
	// BaselineDailyKWh is the home's baseline allowance, kWh a day; 0 means the tariff's
	// allowance.
	BaselineDailyKWh float64
	// Metered is the metered use. In its months it replaces DailyKWh; nil if there is none.
	Metered *solar.Metered
}

// daily returns the use of a day in a month, kWh, and whether it is known and metered. Net
// metering counts the energy from the grid minus the energy to the grid.
func (u *Usage) daily(month time.Month, netted bool) (kwh float64, known, metered bool) {
	day := u.Metered.Month(month)
	switch {
	case day == nil || day.Drawn == 0 && day.Sent == 0: // a meter without any energy tells nothing of the use
		return u.DailyKWh, u.DailyKWh > 0, false
	case netted:
		return max(day.Drawn-day.Sent, 0), true, true
	}
	return day.Drawn, true, true
}

// BillingMonth returns the first day of d's billing month, and its length in days.
// Billing months start on the given day of each month, 1 to 28; any other number counts
// as 1.
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
	kwh      float64 // from the start of the billing month to the start of the day
	daily    float64 // use of the day
	days     float64 // length of the billing month
	baseline float64 // mean allowance of the billing month, kWh a day
	known    bool    // by a reading or an assumption
	metered  bool    // by Usage.Metered
	elapsed  float64 // days since the billing month began, at noon
}

// used returns the use from a day to the start of a later day of the same billing month. If
// nothing is known of the first day's month, the later month stands for it.
func (u *Usage) used(from Date, to localDay, netted bool) float64 {
	daily, _, _ := u.daily(to.date.Month, netted)
	first := Date{Year: to.date.Year, Month: to.date.Month, Day: 1}
	if u.Metered == nil || !from.Before(first) {
		return daily * float64(to.number-from.dayNumber())
	}
	before, known, _ := u.daily(from.Month, netted)
	if !known {
		before = daily
	}
	return before*float64(first.dayNumber()-from.dayNumber()) + daily*float64(to.number-first.dayNumber())
}

// limits returns a meter with the length and the allowance of the day's billing month, and
// the month's first day.
func (u *Usage) limits(day localDay, v *version) (m meter, start Date) {
	start, days := BillingMonth(day.date, u.BillingDay)
	m = meter{days: float64(days), baseline: u.BaselineDailyKWh}
	if m.baseline <= 0 {
		m.baseline = v.allowance(start, days)
	}
	return m, start
}

// allowance returns the mean baseline of a billing month's days, kWh a day. A month that
// crosses a season has the allowance of each season for the season's days.
func (v *version) allowance(start Date, days int) float64 {
	next := Date{Year: start.Year, Month: start.Month, Day: 1}.addMonths(1)
	first, second := v.Baseline[start.Month-1], v.Baseline[next.Month-1]
	later := float64(days) - float64(next.dayNumber()-start.dayNumber()) // days in the second calendar month
	return first + (second-first)*later/float64(days)
}

// on returns the meter on a day of a tariff. netted reports whether the tariff's tiers
// count the net energy. The result depends only on the day, not on the window. A wider
// window therefore has the same prices.
func (u *Usage) on(day localDay, v *version, netted bool) meter {
	m, start := u.limits(day, v)
	m.daily, m.known, m.metered = u.daily(day.date.Month, netted)
	m.elapsed = float64(day.number-start.dayNumber()) + 0.5
	m.kwh = u.used(start, day, netted)
	if u.AsOf.IsZero() {
		return m
	}
	if metered, _ := BillingMonth(u.AsOf, u.BillingDay); metered != start {
		return m
	}
	asOf, first := u.AsOf.dayNumber(), start.dayNumber()
	mean := 0.0 // daily use until the reading
	if asOf > first {
		mean = u.MonthToDateKWh / float64(asOf-first)
	}
	switch {
	case day.number < asOf:
		m.kwh, m.daily, m.known = mean*float64(day.number-first), mean, true
	case m.known:
		m.kwh = u.MonthToDateKWh + u.used(u.AsOf, day, netted)
	default: // nothing is assumed, so the use goes on as until the reading
		m.kwh, m.daily, m.known = u.MonthToDateKWh+mean*float64(day.number-asOf), mean, asOf > first
	}
	return m
}

// at returns the running total at the start of a quarter hour of the day.
func (m *meter) at(quarter int) float64 {
	return m.kwh + m.daily*float64(quarter)/QuartersADay
}

// tier returns the tier of the next kWh after the given usage.
func (m *meter) tier(tiers []Tier, kwh float64) int {
	last := len(tiers) - 1
	for i := range last {
		if bound := m.bound(tiers[i]); kwh < bound {
			return i
		}
	}
	return last
}

// bound returns a tier's upper bound in kWh of the billing month.
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

// The distribution of homes' use is log-normal. Its mean is the mean of US homes
// (solar.TypicalAnnualKWh). docs/pricing.md has the source of the spread.
const (
	usageSpread  = 0.6
	medianAnnual = solar.TypicalAnnualKWh * 0.835 // exp(-spread^2/2)
)

// unmetered returns the confidence in the first of some tiers on a day with unknown
// usage. The confidence is a share of homes. These homes are in tiers whose price is
// within a tenth of the first tier's price.
func (m *meter) unmetered(tiers []Tier) float64 {
	share, below := 0.0, 0.0
	used := medianAnnual / 365 * m.elapsed
	for i, t := range tiers {
		upTo := 1.0 // the last tier has no end
		if i < len(tiers)-1 {
			upTo = math.Erfc(-math.Log(m.bound(t)/used)/usageSpread/math.Sqrt2) / 2
		}
		if math.Abs(tiers[0].Price()-t.Price()) <= alike*math.Abs(t.Price()) {
			share += max(0, upTo-below)
		}
		below = max(below, upTo)
	}
	return math.Round(100*share) / 100
}
