package savings

import "math"

// solver finds optimal paths of a problem. It reuses its memory between calls.
type solver struct {
	problem *problem
	bands   []band
	value   value
}

func newSolver(p *problem) *solver {
	return &solver{problem: p, bands: make([]band, len(p.drift))}
}

// solve returns the path of least cost minus comfort times its worth ($ per degree and
// step), within the bounds. The result is exact, except for rounding.
//
// solve first goes back through the steps with the value of each temperature, and stores
// the optimal band of each step. Then it goes forward along the bands.
func (s *solver) solve(worth float64) *path {
	p, h := s.problem, s.problem.house
	last := len(p.drift) - 1
	v := &s.value
	v.left, v.segments = p.low[last], append(v.segments[:0], segment{p.high[last] - p.low[last], 0})
	for i := last; i >= 0; i-- {
		if i < last {
			v.within(p.low[i], p.high[i])
		}
		v.tilt(-worth * p.warm[i])
		plant, price := &p.plants[i], max(0, p.price[i]) // at a negative price the optimum would heat against cooling
		gas := plant.therms * h.gasPrice
		s.bands[i] = v.act(plant, unitCost{aux: price*plant.auxKwh + gas, heat: price*plant.heatKwh + gas, cool: price * plant.coolKwh})
		v.before(h.a, p.drift[i])
	}
	added := make([]float64, len(p.drift))
	t := p.start
	for i := range s.bands {
		t = h.a*t + p.drift[i]
		added[i] = s.bands[i].add(t, &p.plants[i])
		t += added[i]
	}
	return p.newPath(added)
}

// gap is the largest accepted excess over the optimal cost, as a share of the baseline's
// cost.
const gap = 1e-4

// maxRounds limits the search for the worth of comfort. A search needs a few rounds.
const maxRounds = 40

// equalComfort returns the path of least cost with at least the baseline's comfort,
// summed over the steps. The path never costs more than the baseline.
//
// The worth of comfort is the multiplier of the comfort condition. The least cost is a
// concave function of the multiplier, and every path bounds it from above by a line. The
// search holds two paths: one with too little comfort and one with enough. It tries the
// multiplier at the crossing of their lines. The search ends when no path is below
// the crossing. A blend of the two paths then has exactly the required comfort and the
// least cost.
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
