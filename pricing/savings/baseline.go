package savings

import "slices"

// baseline simulates a device that holds its setpoints. Its slices have the steps of the
// conditions.
type baseline struct {
	house      *house
	conditions *conditions
	settings   []*Settings
	drift      []float64
	plants     []plant
	added      []float64
	after      []float64 // temperature after each quarter hour
}

func newBaseline(c *conditions) *baseline {
	n := len(c.weather)
	return &baseline{
		conditions: c, settings: make([]*Settings, n),
		drift: make([]float64, n), plants: make([]plant, n), added: make([]float64, n), after: make([]float64, n),
	}
}

// hold simulates a timetable in a house. It replaces the values of the call before.
func (b *baseline) hold(h *house, t *timetable) *baseline {
	b.house = h
	c := b.conditions
	first := t.at(c.clock[0])
	temperature := (first.Heat + first.Cool) / 2
	for i, weather := range c.weather {
		weather.Temperature += h.warmer
		settings, drift, unit := t.at(c.clock[i]), h.drift(weather), h.plant(weather.Temperature)
		temperature = h.a*temperature + drift
		added := unit.keep(temperature, settings, t.lowest)
		temperature += added
		b.settings[i], b.drift[i], b.plants[i], b.added[i], b.after[i] = settings, drift, unit, added, temperature
	}
	return b
}

// month returns the problem of a month, and the baseline's path through it.
func (b *baseline) month(m *month) (*problem, *path) {
	from, to, c := m.first, m.first+m.count, b.conditions
	p := &problem{
		house: b.house, start: b.after[from-1], drift: b.drift[from:to], price: c.price[from:to], plants: slices.Clone(b.plants[from:to]),
		warm: seasons(b.added[from:to], c.clock[from:to]),
	}
	p.limit(b.settings[from:to])
	base := p.newPath(b.added[from:to])
	p.tie(base.temperature)
	return p, base
}

// cost returns the cost of step i, which adds some degrees, in $.
func (b *baseline) cost(i int, added float64) float64 {
	p := &b.plants[i]
	return p.kwh(added)*b.conditions.price[i] + p.gas(added)*b.house.gasPrice
}

// costs returns the cost of each month of a run, in $.
func (b *baseline) costs(r run) []float64 {
	sums := make([]float64, len(r))
	for month, m := range r {
		for i := m.first; i < m.first+m.count; i++ {
			sums[month] += b.cost(i, b.added[i])
		}
	}
	return sums
}
