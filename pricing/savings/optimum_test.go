package savings

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawProblem is a small problem with the path of a thermostat as its baseline,
// whose bounds it ties. simple keeps to heating or to cooling in all steps.
func drawProblem(t *rapid.T, n int, simple bool) (*problem, *path) {
	h := drawHouse(t)
	p := &problem{house: &h, start: rapid.Float64Range(17, 26).Draw(t, "start")}
	modes := []Mode{Heat, Cool, Auto, Off}
	first := modes[:3]
	if simple {
		first = modes[:2]
	}
	mode := rapid.SampledFrom(first).Draw(t, "mode")
	added, temperature, settings := make([]float64, n), p.start, make([]*Settings, n)
	for i := range n {
		if !simple && rapid.IntRange(0, 3).Draw(t, "change") == 0 {
			mode = rapid.SampledFrom(modes).Draw(t, "mode")
		}
		settings[i] = &Settings{Mode: mode, Min: 18, Heat: 20, Cool: 24, Max: 26}
		outdoor := rapid.Float64Range(-20, 45).Draw(t, "outdoor")
		p.drift = append(p.drift, (1-h.a)*outdoor)
		p.price = append(p.price, rapid.Float64Range(0.01, 1).Draw(t, "price"))
		p.warm = append(p.warm, 0)
		p.plants = append(p.plants, h.plant(outdoor))
		temperature = h.a*temperature + p.drift[i]
		added[i] = p.plants[i].keep(temperature, settings[i], settings[i].Heat)
		temperature += added[i]
	}
	warm := rapid.SampledFrom([]float64{-1, 0, 1}).Draw(t, "warm")
	for i := range p.warm {
		p.warm[i] = warm
	}
	p.limit(settings)
	base := p.newPath(added)
	p.tie(base.temperature)
	return p, base
}

// drawSmallProblem is small enough for exhaustive search.
func drawSmallProblem(t *rapid.T) (*problem, *path) {
	if rapid.Bool().Draw(t, "simple") {
		return drawProblem(t, rapid.IntRange(1, 4).Draw(t, "steps"), true)
	}
	return drawProblem(t, rapid.IntRange(1, 3).Draw(t, "steps"), false)
}

func TestOptimum_ExhaustiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawSmallProblem(t)
		worth := rapid.Float64Range(0, 0.2).Draw(t, "worth")
		l, constant := p.linear(nil, worth)
		want, found := l.exhaust()
		if !found {
			t.Fatal("no corner: the baseline should be within its own bounds")
		}
		best := newSolver(p).solve(worth)
		if got := best.cost - worth*best.comfort; math.Abs(got-want-constant) > 1e-7 {
			t.Fatalf("least cost %v, exhaustive search finds %v", got, want+constant)
		}
		checkPath(t, p, best)
	})
}

func TestEqualComfort_ExhaustiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, base := drawSmallProblem(t)
		l, _ := p.linear(&base.comfort, 0)
		want, found := l.exhaust()
		if !found {
			t.Fatal("no corner: the baseline is as comfortable as itself")
		}
		best := newSolver(p).equalComfort(base)
		if best.cost < want-1e-7 || best.cost > want+gap*base.cost+1e-7 {
			t.Fatalf("cost %v, exhaustive search finds %v (baseline %v)", best.cost, want, base.cost)
		}
		if best.comfort < base.comfort-1e-7 {
			t.Fatalf("comfort %v, the baseline has %v", best.comfort, base.comfort)
		}
		checkPath(t, p, best)
	})
}

// checkPath wants a path to be what the house does, within power and bounds.
func checkPath(t *rapid.T, p *problem, x *path) {
	temperature := p.start
	for i, v := range x.added {
		if v > p.plants[i].maxHeat()+1e-9 || v < -p.plants[i].cool-1e-9 {
			t.Fatalf("step %d: adds %v of %+v", i, v, p.plants[i])
		}
		temperature = p.house.a*temperature + p.drift[i] + v
		if math.Abs(temperature-x.temperature[i]) > 1e-9 {
			t.Fatalf("step %d: is at %v, should be at %v", i, x.temperature[i], temperature)
		}
		if temperature < p.low[i]-1e-6 || temperature > p.high[i]+1e-6 {
			t.Fatalf("step %d: %v is outside %v to %v", i, temperature, p.low[i], p.high[i])
		}
	}
}

func TestEqualComfort_LongPeriods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, base := drawProblem(t, rapid.IntRange(1, 400).Draw(t, "steps"), false)
		best := newSolver(p).equalComfort(base)
		checkPath(t, p, best)
		if best.cost > base.cost || best.comfort < base.comfort-1e-6 {
			t.Fatalf("cost %v of %v, comfort %v of %v", best.cost, base.cost, best.comfort, base.comfort)
		}
	})
}
