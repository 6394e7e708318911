package pricing

import (
	"math"

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
	baseline float64 // allowance, kWh a day
	known    bool    // by a reading or an assumption
	elapsed  float64 // days since the billing month began, at noon
}

// on returns the meter on a day of a tariff. The result depends only on the day, not on
// the window. A wider window therefore has the same prices.
func (u *Usage) on(day localDay, v *version) meter {
	start, days := BillingMonth(day.date, u.BillingDay)
	m := meter{daily: u.DailyKWh, days: float64(days), baseline: v.Baseline[day.month], known: u.DailyKWh > 0}
	if u.BaselineDailyKWh > 0 {
		m.baseline = u.BaselineDailyKWh
	}
	m.elapsed = float64(day.number-start.dayNumber()) + 0.5
	m.kwh = u.DailyKWh * (m.elapsed - 0.5)
	if u.AsOf.IsZero() {
		return m
	}
	if metered, _ := BillingMonth(u.AsOf, u.BillingDay); metered != start {
		return m
	}
	m.known = true
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

// unmeteredBy returns the confidence in the first tier of each period.
func (m *meter) unmeteredBy(periods [][]Tier) []float64 {
	all := make([]float64, len(periods))
	for i, tiers := range periods {
		all[i] = m.unmetered(tiers)
	}
	return all
}

// unmetered returns the confidence in the first of some tiers on a day with unknown
// usage. The confidence is a share of homes. These homes are in tiers whose price is
// within a tenth of the first tier's price.
func (m *meter) unmetered(tiers []Tier) float64 {
	share, below := 0.0, 0.0
	for _, t := range tiers {
		upTo := 1.0
		if bound := m.bound(t); !math.IsInf(bound, 1) {
			used := medianAnnual / 365 * m.elapsed
			upTo = math.Erfc(-math.Log(bound/used)/usageSpread/math.Sqrt2) / 2
		}
		if math.Abs(tiers[0].Price()-t.Price()) <= alike*math.Abs(t.Price()) {
			share += max(0, upTo-below)
		}
		below = max(below, upTo)
	}
	return math.Round(100*share) / 100
}
