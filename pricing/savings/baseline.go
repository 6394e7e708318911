package savings

import "slices"

// baseline simulates a device that holds its setpoints over a run.
type baseline struct {
	house      *house
	conditions *conditions
	settings   []*Settings
	drift      []float64 // starts at the first quarter hour after the warm-up
	plants     []plant   // starts at the same quarter hour
	start      float64   // temperature at the end of the warm-up
	added      []float64
	after      []float64 // temperature after each quarter hour
}

func newBaseline(h *house, t *timetable, c *conditions) *baseline {
	n := len(c.price)
	b := &baseline{
		house: h, conditions: c, settings: make([]*Settings, n),
		drift: make([]float64, n), plants: make([]plant, n), added: make([]float64, n), after: make([]float64, n),
	}
	first := t.at(c.clock[0])
	temperature := (first.Heat + first.Cool) / 2
	for i := range c.warmUp {
		temperature = h.a*temperature + h.drift(c.weather[i])
		unit := h.plant(c.weather[i].Temperature)
		temperature += unit.keep(temperature, t.at(c.clock[i]), t.lowest)
	}
	b.start = temperature
	for i := range n {
		b.settings[i] = t.at(c.clock[c.warmUp+i])
		weather := c.weather[c.warmUp+i]
		b.drift[i], b.plants[i] = h.drift(weather), h.plant(weather.Temperature)
		temperature = h.a*temperature + b.drift[i]
		b.added[i] = b.plants[i].keep(temperature, b.settings[i], t.lowest)
		temperature += b.added[i]
		b.after[i] = temperature
	}
	return b
}

// month returns the problem of a month, and the baseline's path through it.
func (b *baseline) month(m *month) (*problem, *path) {
	from, to, c := m.first, m.first+m.count, b.conditions
	p := &problem{
		house: b.house, start: b.start, drift: b.drift[from:to], price: c.price[from:to], plants: slices.Clone(b.plants[from:to]),
		warm: seasons(b.added[from:to], c.clock[c.warmUp+from:c.warmUp+to]),
	}
	if from > 0 {
		p.start = b.after[from-1]
	}
	p.limit(b.settings[from:to])
	base := p.newPath(b.added[from:to])
	p.tie(base.temperature)
	return p, base
}
