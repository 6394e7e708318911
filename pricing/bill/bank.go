package bill

import "github.com/gridhook/gridhook/pricing"

// bank holds the kWh that net metering carries from month to month, by period.
type bank struct {
	kwh    []float64
	probes [4]int // periods of the previous month, at four times of the day
}

// probeHours are the times of the day at which carry compares the periods of two months.
var probeHours = [4]int{0, 5, 11, 17}

// banked returns the energy charge of a month's net use, after credit for the kWh of
// earlier months, and the charges on every kWh drawn that net metering does not credit. The
// surplus of each period goes to the bank. The net use of a month has no days of its own, so
// it has the mean of the days' prices.
func (t *Terms) banked(m *monthOfSteps, b *bank) float64 {
	last := m.seen[len(m.seen)-1].rates
	use := make([]float64, last.Periods())
	for i := range m.seen {
		for _, s := range m.seen[i].steps {
			use[min(s.period, len(use)-1)] += net(s)
		}
	}
	b.carry(use, last)
	b.kwh = make([]float64, len(use))
	for p := range use {
		if use[p] < 0 {
			b.kwh[p], use[p] = -use[p], 0
		}
	}
	total, charge := sumOf(use), t.uncredited(m, drawn)
	if total == 0 {
		return charge
	}
	for i := range m.seen {
		charge += t.pricedOn(&m.seen[i], m, use, total) / float64(len(m.seen))
	}
	return charge
}

// pricedOn returns the charge of a month's net use at the prices of a day, without the charges
// that net metering does not credit.
func (t *Terms) pricedOn(day *dayOfSteps, m *monthOfSteps, use []float64, total float64) float64 {
	charge := total * (day.rates.Rate*(1+day.rates.Tax) - t.uncreditedRate(day)) // the price of a kWh has them already
	ladders := t.ladders(day, m)
	for p := range use {
		charge += use[p] / total * ladders[min(p, len(ladders)-1)].cost(total)
	}
	return charge
}

// carry subtracts the bank from a month's use, period by period. If the month lacks a
// period, carry uses the period at the same time of the day.
func (b *bank) carry(use []float64, day pricing.Day) {
	var now [4]int
	for i, hour := range probeHours {
		now[i] = day.WeekdayPeriod(hour * 4)
	}
	for p, kwh := range b.kwh {
		if kwh == 0 {
			continue
		}
		target := p
		for i, before := range b.probes {
			if before == p {
				target = now[i]
				break
			}
		}
		use[min(target, len(use)-1)] -= kwh
	}
	b.probes = now
}
