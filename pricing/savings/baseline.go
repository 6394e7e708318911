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
	for at, weather := range c.weather {
		settings, drift, unit := t.at(c.clock[at]), h.drift(weather), h.plant(weather.Temperature)
		temperature = h.a*temperature + drift
		added := unit.keep(temperature, settings, t.lowest)
		temperature += added
		i := at - c.warmUp
		if i < 0 {
			b.start = temperature
			continue
		}
		b.settings[i], b.drift[i], b.plants[i], b.added[i], b.after[i] = settings, drift, unit, added, temperature
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
