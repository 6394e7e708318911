package savings

import "slices"

// value is the least cost of the steps to come as a function of temperature. It
// is convex and piecewise linear: segments of rising slope ($ per degree) from the
// left end of its domain. Outside its domain no control keeps the bounds.
type value struct {
	left     float64
	segments []segment
}

type segment struct{ length, slope float64 }

// band is the optimal control of a step as two setpoints: heat up to one, cool
// down to the other, each as far as the device can, and rest between them.
type band struct{ heat, cool float64 }

// control finds the optimal band: heating is worth its price (slope -heatCost)
// as long as the value falls faster, cooling as long as it rises faster.
// heatCost and coolCost are $ per degree added or taken in the step.
func (v *value) control(heatCost, coolCost float64) (band, int, int) {
	t, i := v.left, 0
	for i < len(v.segments) && v.segments[i].slope < -heatCost {
		t += v.segments[i].length
		i++
	}
	b, heatAt := band{heat: t}, i
	for i < len(v.segments) && v.segments[i].slope <= coolCost {
		t += v.segments[i].length
		i++
	}
	b.cool = t
	return b, heatAt, i
}

// act is the value before the device acts: the least over what it adds (at most
// heat) or takes (at most cool), at their costs, of the value after it. For convex
// functions that puts a segment of each cost into the order of slopes.
func (v *value) act(heat, cool, heatCost, coolCost float64) band {
	b, heatAt, coolAt := v.control(heatCost, coolCost)
	if cool > 0 {
		v.segments = slices.Insert(v.segments, coolAt, segment{cool, coolCost})
	}
	if heat > 0 {
		v.segments = slices.Insert(v.segments, heatAt, segment{heat, -heatCost})
		v.left -= heat
	}
	return b
}

// before is the value in terms of the temperature T at the start of a step that
// leads to aT + drift.
func (v *value) before(a, drift float64) {
	wider := 1 / a
	v.left = (v.left - drift) * wider
	for i := range v.segments {
		v.segments[i].length *= wider
		v.segments[i].slope *= a
	}
}

// within cuts the domain to the bounds. Rounding may leave a domain that touches
// a bound from outside; it becomes that bound.
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
