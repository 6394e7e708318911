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
// surplus of each period goes to the bank.
func (t *Terms) banked(m *monthOfSteps, b *bank) float64 {
	last := &m.seen[len(m.seen)-1]
	ladders := t.ladders(last, m)
	use := make([]float64, len(ladders))
	for i := range m.seen {
		for _, s := range m.seen[i].steps {
			use[min(s.period, len(use)-1)] += net(s)
		}
	}
	b.carry(use, last.rates)
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
	charge += total * (last.rates.Rate*(1+last.rates.Tax) - t.uncreditedRate(last)) // the price of a kWh has them already
	for p := range use {
		charge += use[p] / total * ladders[p].cost(total)
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
