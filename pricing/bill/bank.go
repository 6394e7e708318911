package bill

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// bank holds the kWh that net metering carries from month to month, by period.
type bank struct {
	kwh   []float64
	times map[int]timeOfDay // of the periods of the previous month
}

// timeOfDay is a quarter hour of weekdays or of weekends.
type timeOfDay struct {
	quarter int
	weekend bool
}

// timesOfDay are all times of the day, in the order in which carry looks for a period. The four
// times of SAM come first.
var timesOfDay = func() (list []timeOfDay) {
	for _, hour := range []int{0, 5, 11, 17} {
		list = append(list, timeOfDay{hour * 4, false})
	}
	for i := range 2 * pricing.QuartersADay {
		list = append(list, timeOfDay{i % pricing.QuartersADay, i >= pricing.QuartersADay})
	}
	return list
}()

// banked returns the energy charge of a month's net use, after credit for the kWh of
// earlier months, and the charges on every kWh drawn that net metering does not credit. The
// surplus of each period goes to the bank. Versions of the tariff may number their periods
// differently, so the month has the periods of its last version.
func (t *Terms) banked(m *monthOfSteps, b *bank) float64 {
	last := &m.seen[len(m.seen)-1].rates
	use := make([]float64, last.Periods())
	for i := range m.seen {
		d := &m.seen[i]
		for _, s := range d.steps {
			use[last.PeriodIn(d.date.Month, d.rates.Weekend, s.quarter)] += net(s)
		}
	}
	b.carry(use, m, last)
	b.kwh = make([]float64, len(use))
	for p := range use {
		if use[p] < 0 {
			b.kwh[p], use[p] = -use[p], 0
		}
	}
	charge := t.uncredited(m, drawn)
	for p, price := range t.meanPrices(m, last, sumOf(use)) {
		charge += use[p] * price
	}
	return charge
}

// meanPrices returns the mean price of the month's hours in each period of the last version,
// without the charges that net metering does not credit. total is the net use of the month. It
// has no steps of its own.
func (t *Terms) meanPrices(m *monthOfSteps, last *pricing.Day, total float64) []float64 {
	sums, quarters := make([]float64, last.Periods()), make([]float64, last.Periods())
	for i := range m.seen {
		d := &m.seen[i]
		ladders := t.ladders(d, m)
		for _, s := range d.steps {
			p := last.PeriodIn(d.date.Month, d.rates.Weekend, s.quarter)
			price := d.rates.Rate*(1+d.rates.Tax) - t.uncreditedRate(d) // the price of a kWh has them already
			if total > 0 {
				price += ladders[s.period].cost(total) / total
			}
			quarters[p] += float64(s.quarters)
			sums[p] += price * float64(s.quarters)
		}
	}
	for p := range sums {
		sums[p] /= max(quarters[p], 1)
	}
	return sums
}

// carry subtracts the bank from a month's use, period by period. Where periods change, the kWh
// go to the period at the same time of the day on the first day.
func (b *bank) carry(use []float64, m *monthOfSteps, last *pricing.Day) {
	first, final := m.seen[0].date.Month, m.seen[len(m.seen)-1].date.Month
	for p, kwh := range b.kwh {
		at := b.times[p]
		use[last.PeriodIn(first, at.weekend, at.quarter)] -= kwh
	}
	b.times = map[int]timeOfDay{}
	for _, month := range []time.Month{final, first} {
		for _, at := range timesOfDay {
			p := last.PeriodIn(month, at.weekend, at.quarter)
			if _, known := b.times[p]; !known {
				b.times[p] = at
			}
		}
	}
}
