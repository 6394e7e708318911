package bill

import "math"

// flow returns the charged energy of a step.
type flow func(step) float64

func used(s step) float64  { return s.load }
func net(s step) float64   { return s.load - s.solar }
func drawn(s step) float64 { return max(s.load-s.solar, 0) }
func sent(s step) float64  { return max(s.solar-s.load, 0) }
func made(s step) float64  { return s.solar }

// energy returns the energy charge of a month's flow, $.
func (t *Terms) energy(m *monthOfSteps, f flow) float64 {
	charge := t.eventCharge(m, f)
	if t.HourlyPrices != nil {
		return charge + sum(m, func(d *dayOfSteps, s step) float64 { return f(s) * t.HourlyPrices[s.index] * t.scale(d.date) })
	}
	if t.Tiers == Prorated {
		for _, part := range m.split(samePrices) {
			charge += t.prorated(&part, f)
		}
	} else {
		charge += t.runningTotal(m, f)
	}
	return charge + sum(m, func(d *dayOfSteps, s step) float64 {
		return f(s) * d.rates.Rate * (1 + d.rates.Tax)
	})
}

func sum(m *monthOfSteps, of func(*dayOfSteps, step) float64) float64 {
	total := 0.0
	for i := range m.seen {
		for _, s := range m.seen[i].steps {
			total += of(&m.seen[i], s)
		}
	}
	return total
}

func sumOf(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// ladder holds a period's tiers with their bounds in kWh of the month's metered days. The
// bounds never fall, and the last bound is infinite.
type ladder struct {
	bounds []float64
	rates  []float64 // with taxes, $/kWh
	sells  []float64 // for exported energy, $/kWh
}

// ladders returns the ladder of every period on a day of a month. A partly metered month
// has its share of each tier. Otherwise the two ends of a year would have the lower tiers of
// 13 months.
func (t *Terms) ladders(d *dayOfSteps, m *monthOfSteps) []ladder {
	list := make([]ladder, d.rates.Periods())
	for p := range list {
		bound := 0.0
		for _, tier := range d.rates.Tiers(p) {
			bound = max(bound, d.rates.Bound(tier, &t.Usage)*m.share())
			list[p].bounds = append(list[p].bounds, bound)
			list[p].rates = append(list[p].rates, tier.Price()*(1+d.rates.Tax))
			list[p].sells = append(list[p].sells, tier.Sell)
		}
		list[p].bounds[len(list[p].bounds)-1] = math.Inf(1)
	}
	return list
}

// cost returns the price of a usage, counted from zero. A negative usage is priced at the
// first tier.
func (l *ladder) cost(kwh float64) float64 {
	total, from, tier := 0.0, 0.0, 0
	for ; kwh > l.bounds[tier]; tier++ {
		total += (l.bounds[tier] - from) * l.rates[tier]
		from = l.bounds[tier]
	}
	return total + (kwh-from)*l.rates[tier]
}

// runningTotal charges each step at the tier that the month's total has reached.
func (t *Terms) runningTotal(m *monthOfSteps, f flow) float64 {
	charge, total := 0.0, 0.0
	for i := range m.seen {
		ladders := t.ladders(&m.seen[i], m)
		for _, s := range m.seen[i].steps {
			l := &ladders[s.period]
			charge += l.cost(total+f(s)) - l.cost(total)
			total += f(s)
		}
	}
	return charge
}

// prorated fills the tiers hour by hour, then divides each tier among the periods. All days of
// m have the same prices.
func (t *Terms) prorated(m *monthOfSteps, f flow) float64 {
	last := &m.seen[len(m.seen)-1]
	ladders := t.ladders(last, m)
	periods := make([]float64, len(ladders))
	fill := newFilling(ladders)
	for i := range m.seen {
		for _, s := range m.seen[i].steps {
			periods[s.period] += f(s)
			fill.add(&ladders[s.period], f(s))
		}
	}
	charge := 0.0
	for p, l := range ladders {
		if fill.total == 0 {
			charge += periods[p] * l.rates[0]
			continue
		}
		for tier, rate := range l.rates {
			charge += periods[p] / fill.total * fill.tiers[tier] * rate
		}
	}
	return charge
}

// filling tracks how far the month's usage has filled the tiers.
type filling struct {
	tiers []float64
	tier  int
	total float64
}

func newFilling(ladders []ladder) *filling {
	longest := 0
	for _, l := range ladders {
		longest = max(longest, len(l.rates))
	}
	return &filling{tiers: make([]float64, longest)}
}

// add puts an hour's energy into the current tier. It moves up or down by at most one
// tier, by the bounds of the hour's period.
func (f *filling) add(l *ladder, kwh float64) {
	f.total += kwh
	switch n := len(l.rates); {
	case n == 1:
		f.tiers[0] += kwh
		return
	case f.tier < n && f.total >= l.bounds[f.tier]:
		beyond := f.total - l.bounds[f.tier]
		f.tiers[f.tier] += kwh - beyond
		f.tier++
		f.tiers[f.tier] += beyond
		return
	case kwh < 0 && f.tier > 0 && f.tier < n && f.total < l.bounds[f.tier-1]:
		below := f.total - l.bounds[f.tier-1]
		f.tiers[f.tier] += kwh - below
		f.tier--
		f.tiers[f.tier] += below
		return
	}
	f.tiers[f.tier] += kwh
}

// pay returns the earnings of a month's exported energy, $. It uses ExportPrices if
// given, and otherwise the tariff's sell rates by period and tier. Only energy that the home
// pays for counts towards the tiers.
func (t *Terms) pay(m *monthOfSteps, f flow) float64 {
	if t.ExportPrices != nil {
		return sum(m, func(_ *dayOfSteps, s step) float64 { return f(s) * t.ExportPrices[s.index] })
	}
	charged := drawn
	if t.Metering == FeedIn {
		charged = used
	}
	earned, total := 0.0, 0.0
	for i := range m.seen {
		ladders := t.ladders(&m.seen[i], m)
		for _, s := range m.seen[i].steps {
			earned += f(s) * ladders[s.period].sell(total)
			total += charged(s)
		}
	}
	return earned
}

// sell returns the sell rate of the tier that a usage has reached.
func (l *ladder) sell(kwh float64) float64 {
	tier := 0
	for kwh >= l.bounds[tier] {
		tier++
	}
	return l.sells[tier]
}

// uncredited returns the charges, $, on a month's flow that net metering does not credit.
func (t *Terms) uncredited(m *monthOfSteps, f flow) float64 {
	return sum(m, func(d *dayOfSteps, s step) float64 { return f(s) * t.uncreditedRate(d) })
}

// uncreditedRate returns the part of a day's prices that net metering does not credit, $/kWh.
func (t *Terms) uncreditedRate(d *dayOfSteps) float64 {
	if t.Regime.On(d.date).CreditsAll {
		return 0
	}
	return d.rates.Uncredited * (1 + d.rates.Tax)
}
