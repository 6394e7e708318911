package savings

import "math"

// solver finds optimal paths of a problem. It keeps its memory between calls.
type solver struct {
	problem *problem
	bands   []band
	value   value
}

func newSolver(p *problem) *solver {
	return &solver{problem: p, bands: make([]band, len(p.drift))}
}

// solve is the path of least cost minus comfort times its worth ($ per degree and
// step), within the bounds. It is exact but for rounding.
//
// It goes back through the steps with the value of each temperature, and keeps
// the optimal band of each step; then forward along the bands.
func (s *solver) solve(worth float64) *path {
	p, h := s.problem, s.problem.house
	last := len(p.drift) - 1
	v := &s.value
	v.left, v.segments = p.low[last], append(v.segments[:0], segment{p.high[last] - p.low[last], 0})
	perHeat, perCool := h.heatKw*stepHours/h.heat, h.coolKw*stepHours/h.cool // kWh per degree
	if h.heat == 0 {
		perHeat = 0
	}
	if h.cool == 0 {
		perCool = 0
	}
	for i := last; i >= 0; i-- {
		if i < last {
			v.within(p.low[i], p.high[i])
		}
		v.tilt(-worth * p.warm[i])
		price := max(0, p.price[i]) // below 0 heating against cooling would pay
		s.bands[i] = v.act(p.heat[i], p.cool[i], price*perHeat, price*perCool)
		v.before(h.a, p.drift[i])
	}
	added := make([]float64, len(p.drift))
	t := p.start
	for i, b := range s.bands {
		t = h.a*t + p.drift[i]
		switch {
		case t < b.heat:
			added[i] = min(b.heat-t, p.heat[i])
		case t > b.cool:
			added[i] = -min(t-b.cool, p.cool[i])
		}
		t += added[i]
	}
	return p.newPath(added)
}

// gap is how far above the true optimum, as a share of the baseline's cost, a
// result may stay.
const gap = 1e-4

// maxRounds bounds the search for the worth of comfort, which takes a handful.

const maxRounds = 40

// equalComfort is the path of least cost that is, summed over the steps, at least
// as comfortable as a baseline, and never dearer.
//
// The worth of comfort that makes it so is the multiplier of that condition. The
// least cost as a function of the multiplier is concave, and every path bounds it
// from above by a line. Of two paths, one less and one as comfortable as asked,
// the crossing of the lines is tried next. When no path lies below it, a blend of
// the two has exactly the comfort asked and the least cost.
func (s *solver) equalComfort(baseline *path) *path {
	short := func(x *path) float64 { return baseline.comfort - x.comfort }
	less, more := s.solve(0), baseline
	if short(less) <= 0 {
		return cheaper(less, baseline)
	}
	tolerance := gap * math.Abs(baseline.cost)
	for range maxRounds {
		worth := (more.cost - less.cost) / (short(less) - short(more))
		crossing := less.cost + worth*short(less)
		try := s.solve(worth)
		if try.cost+worth*short(try) >= crossing-tolerance {
			break
		}
		if short(try) > 0 {
			less = try
		} else {
			more = try
		}
	}
	ofMore := short(less) / (short(less) - short(more))
	return cheaper(s.problem.blend(less, more, ofMore), baseline)
}

func cheaper(x, y *path) *path {
	if y.cost < x.cost {
		return y
	}
	return x
}
