package savings

import "math"

// problem is the heating and cooling of one house over the steps of one month. Step i
// leads from temperature i to temperature i+1.
type problem struct {
	house *house
	start float64   // temperature 0
	drift []float64 // temperature that the step adds without the device
	price []float64 // $/kWh
	// plants is the device in the step. A forbidden mode has no output.
	plants []plant
	// low and high bound temperature i+1. The baseline is always within them.
	low, high []float64
	// warm is 1 if a higher temperature i+1 is better, and -1 if a lower one is better.
	warm []float64
}

// path is a controller's solution of a problem. added is the temperature change of each
// step, and temperature the result after each step.
type path struct {
	added, temperature []float64
	cost               float64 // $, gas included
	kwh, therms        float64
	comfort            float64 // sum of warm x temperature
}

// newPath returns the path of the given temperature changes.
func (p *problem) newPath(added []float64) *path {
	t := p.start
	x := &path{added: added, temperature: make([]float64, len(added))}
	for i, v := range added {
		t = p.house.a*t + p.drift[i] + v
		x.temperature[i] = t
		kwh := p.plants[i].kwh(v)
		x.kwh += kwh
		x.cost += kwh * p.price[i]
		x.therms += p.plants[i].gas(v)
		x.comfort += p.warm[i] * t
	}
	x.cost += x.therms * p.house.gasPrice
	return x
}

// blend mixes two paths. The model is linear in added, so the mix is a path within the
// bounds of both. Its comfort is the same mix of their comfort. The cost is convex in
// added, so the mix costs at most the same mix of their costs.
func (p *problem) blend(x, y *path, ofY float64) *path {
	added := make([]float64, len(x.added))
	for i := range added {
		added[i] = (1-ofY)*x.added[i] + ofY*y.added[i]
	}
	return p.newPath(added)
}

// slack is the tolerance of a bound for rounding, in degrees.
const slack = 1e-9

// limit sets the bounds of each step to the least and the greatest temperature. In AUTO a
// device heats at most to its cooling setpoint, as cooling would start there. In the same
// way it cools at most to its heating setpoint.
func (p *problem) limit(settings []*Settings) {
	n := len(settings)
	room := make([]float64, 2*n)
	p.low, p.high = room[:n], room[n:]
	for i, s := range settings {
		p.low[i], p.high[i] = s.Min, s.Max
		if !s.Mode.heats() {
			p.plants[i].heat, p.plants[i].aux = 0, 0
		}
		if !s.Mode.cools() {
			p.plants[i].cool = 0
		}
		switch {
		case s.Mode == Auto && p.warm[i] > 0:
			p.high[i] = s.Cool
		case s.Mode == Auto && p.warm[i] < 0:
			p.low[i] = s.Heat
		}
	}
}

// tie binds the optimum to the baseline. The baseline may leave the band if the equipment
// is too weak, so tie widens the bounds to contain it. No step of the optimum is further
// out than the baseline. At a change of season, and at the end, the optimum meets the
// baseline. The optimum thus borrows no heat from the next month. It also cannot pay for
// comfort in one season with comfort in another.
func (p *problem) tie(baseline []float64) {
	last := len(baseline) - 1
	for i, t := range baseline {
		p.low[i], p.high[i] = min(p.low[i], t)-slack, max(p.high[i], t)+slack
		if i == last || p.warm[i] != p.warm[i+1] {
			p.low[i], p.high[i] = t-slack, t+slack
		}
	}
}

// seasons returns for each step whether a warmer or a cooler temperature is better. The
// sign is the baseline's main activity on that local day, heating or cooling. A day
// without activity has the sign of the day before. Days before the first activity have
// its sign.
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
