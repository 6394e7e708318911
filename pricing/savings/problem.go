package savings

import "math"

// problem is the heating and cooling of one house over the steps of one month.
// Step i leads from temperature i to temperature i+1.
type problem struct {
	house *house
	start float64   // temperature 0
	drift []float64 // what the step adds without the device
	price []float64 // $/kWh
	// What the device can add and take in the step; 0 where the mode forbids it.
	heat, cool []float64
	// Bounds of temperature i+1. The baseline is always within them.
	low, high []float64
	// warm is 1 where temperature i+1 is the better the warmer, -1 where the cooler.
	warm []float64
}

// path is what a controller makes of a problem: what is added in each step, and
// the temperatures after each.
type path struct {
	added, temperature []float64
	cost               float64 // $
	kwh                float64
	comfort            float64 // sum of warm x temperature
}

// newPath sums up what was added from step to step.
func (p *problem) newPath(added []float64) *path {
	t := p.start
	x := &path{added: added, temperature: make([]float64, len(added))}
	for i, v := range added {
		t = p.house.a*t + p.drift[i] + v
		x.temperature[i] = t
		kwh := p.house.kwh(v)
		x.kwh += kwh
		x.cost += kwh * p.price[i]
		x.comfort += p.warm[i] * t
	}
	return x
}

// blend mixes two paths. The model is linear in what is added and its cost convex,
// so the mix is a path of the problem that keeps the bounds of both, has the same
// mix of comfort and costs no more than the mix of costs.
func (p *problem) blend(x, y *path, ofY float64) *path {
	added := make([]float64, len(x.added))
	for i := range added {
		added[i] = (1-ofY)*x.added[i] + ofY*y.added[i]
	}
	return p.newPath(added)
}

// slack is the room that rounding is given in a bound, in degrees.
const slack = 1e-9

// limit sets what the device may do in each step: move within the least and the
// greatest temperature. A device that may both heat and cool heats no further
// than to its cooling setpoint and cools no further than to its heating setpoint,
// as the other half of it would start there.
func (p *problem) limit(settings []*Settings) {
	n := len(settings)
	room := make([]float64, 4*n)
	p.heat, p.cool, p.low, p.high = room[:n], room[n:2*n], room[2*n:3*n], room[3*n:]
	for i, s := range settings {
		p.low[i], p.high[i] = s.Min, s.Max
		if s.Mode.heats() {
			p.heat[i] = p.house.heat
		}
		if s.Mode.cools() {
			p.cool[i] = p.house.cool
		}
		switch {
		case s.Mode == Auto && p.warm[i] > 0:
			p.high[i] = s.Cool
		case s.Mode == Auto && p.warm[i] < 0:
			p.low[i] = s.Heat
		}
	}
}

// tie binds the optimum to the baseline. The bounds are widened to hold it, as the
// equipment may have let it out of the band: no step is further out than before.
// Where the season turns, and at the end, the optimum meets it, so that no heat is
// borrowed from the next month, nor comfort of one season paid with that of the
// other's days between.
func (p *problem) tie(baseline []float64) {
	last := len(baseline) - 1
	for i, t := range baseline {
		p.low[i], p.high[i] = min(p.low[i], t)-slack, max(p.high[i], t)+slack
		if i == last || p.warm[i] != p.warm[i+1] {
			p.low[i], p.high[i] = t-slack, t+slack
		}
	}
}

// seasons says for each step whether warmer or cooler is better: the sign of what
// the baseline did more of on that local day, heating or cooling. A day of
// neither has that of the day before, and those before the first that of the
// first.
func seasons(added []float64, clock []moment) []float64 {
	warm := make([]float64, len(added))
	season, settled := 0.0, 0
	for i := 0; i < len(added); {
		end, sum := i, 0.0
		for ; end < len(added) && clock[end].day == clock[i].day; end++ {
			sum += added[end]
		}
		if sum != 0 {
			season = math.Copysign(1, sum)
		}
		for j := i; j < end; j++ {
			warm[j] = season
		}
		i = end
		if season == 0 {
			settled = end
		}
	}
	if settled < len(warm) {
		for i := range settled {
			warm[i] = warm[settled]
		}
	}
	return warm
}
