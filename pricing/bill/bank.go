package bill

import "github.com/gridhook/gridhook/pricing"

// bank keeps the kWh that net metering carries from month to month, by period.
type bank struct {
	kwh    []float64
	probes [4]int // periods of the month before, at four times of the day
}

// probeHours are the times of the day at which periods of two months are held
// against each other.
var probeHours = [4]int{0, 5, 11, 17}

// banked is the energy charge of a month's net use after the kWh of the months
// before; what is sent out beyond goes to the bank.
func (t *Terms) banked(m *monthOfSteps, b *bank) float64 {
	last := &m.seen[len(m.seen)-1]
	ladders := t.ladders(last, m.days)
	use := make([]float64, len(ladders))
	for i := range m.seen {
		for _, s := range m.seen[i].steps {
			use[min(s.period, len(use)-1)] += net(s)
		}
	}
	b.carry(use, last.rates)
	total := 0.0
	b.kwh = make([]float64, len(use))
	for p := range use {
		if use[p] < 0 {
			b.kwh[p], use[p] = -use[p], 0
		}
		total += use[p]
	}
	if total == 0 {
		return 0
	}
	charge := total * last.rates.Rate * (1 + last.rates.Tax)
	for p := range use {
		charge += use[p] / total * ladders[p].cost(total)
	}
	return charge
}

// carry takes the bank off the use of a month: of the same period where the month
// has it, and otherwise of the one at the same time of the day.
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
