package savings

import "slices"

// value is the least cost of the remaining steps as a function of temperature. It is
// convex and piecewise linear. The segments have rising slopes ($ per degree) and start
// at the left end of the domain. No control keeps the bounds from a temperature outside
// the domain.
type value struct {
	left     float64
	segments []segment
}

type segment struct{ length, slope float64 }

// band is the optimal control of a step as setpoints. The device heats up to heat, adds
// auxiliary heat up to the lower aux, and cools down to cool. Its output limits each of
// these. It is idle in between.
type band struct{ aux, heat, cool float64 }

// unitCost is the cost of one degree in a step, in $. Auxiliary heat costs at least as
// much as heat.
type unitCost struct{ aux, heat, cool float64 }

// act changes v to the value before the device acts. That value is the least sum of the
// action's cost and the value after it. The device adds at most heat and aux, or takes at
// most cool, at their unit costs. For convex functions, act inserts a segment of each
// cost in the order of slopes. Heating pays while the value falls faster than its cost,
// and cooling while the value rises faster.
func (v *value) act(p *plant, price unitCost) band {
	t, i := v.left, 0
	until := func(steep func(slope float64) bool) (float64, int) {
		for i < len(v.segments) && steep(v.segments[i].slope) {
			t += v.segments[i].length
			i++
		}
		return t, i
	}
	var b band
	var auxAt, heatAt, coolAt int
	b.aux, auxAt = until(func(slope float64) bool { return slope < -price.aux })
	b.heat, heatAt = until(func(slope float64) bool { return slope < -price.heat })
	b.cool, coolAt = until(func(slope float64) bool { return slope <= price.cool })
	if p.cool > 0 {
		v.segments = slices.Insert(v.segments, coolAt, segment{p.cool, price.cool})
	}
	if p.heat > 0 {
		v.segments = slices.Insert(v.segments, heatAt, segment{p.heat, -price.heat})
	}
	if p.aux > 0 {
		v.segments = slices.Insert(v.segments, auxAt, segment{p.aux, -price.aux})
	}
	v.left -= p.maxHeat()
	return b
}

// add returns the temperature change that the band adds to a temperature.
func (b *band) add(t float64, p *plant) float64 {
	if t > b.cool {
		return -min(t-b.cool, p.cool)
	}
	added := min(max(0, b.heat-t), p.heat)
	return added + min(max(0, b.aux-t-added), p.aux)
}

// before changes v to a function of the temperature T at the start of a step that leads
// to aT + drift.
func (v *value) before(a, drift float64) {
	wider := 1 / a
	v.left = (v.left - drift) * wider
	for i := range v.segments {
		v.segments[i].length *= wider
		v.segments[i].slope *= a
	}
}

// within cuts the domain to the bounds. Rounding may leave a domain that touches a bound
// from outside. The domain then becomes that bound.
func (v *value) within(low, high float64) {
	cut := 0
	for over := low - v.left; over > 0; cut++ {
		if cut == len(v.segments) {
			v.left = low
			break
		}
		if s := &v.segments[cut]; s.length > over {
			s.length -= over
			v.left = low
			break
		}
		over -= v.segments[cut].length
		v.left += v.segments[cut].length
	}
	v.segments = v.segments[:copy(v.segments, v.segments[cut:])]
	right := v.left
	for i := range v.segments {
		if right+v.segments[i].length >= high {
			v.segments[i].length = max(0, high-right)
			v.segments = v.segments[:i+1]
			return
		}
		right += v.segments[i].length
	}
}

// tilt adds a cost per degree.
func (v *value) tilt(slope float64) {
	for i := range v.segments {
		v.segments[i].slope += slope
	}
}
