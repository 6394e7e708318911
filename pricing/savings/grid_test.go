package savings

import (
	"math"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing"

	"github.com/gridhook/gridhook/pricing/climate"
)

// onGrid solves a problem by dynamic programming on a grid of temperatures between the
// bounds of each step, with linear interpolation. From each temperature the device may
// rest, run fully, or bring the house to any temperature of the next step.
func (p *problem) onGrid(points int) float64 {
	next, now := make([]float64, points), make([]float64, points)
	at := func(i, k int) float64 { return p.low[i] + (p.high[i]-p.low[i])*float64(k)/float64(points-1) }
	best := func(i int, floating float64) float64 {
		least := math.Inf(1)
		try := func(t float64) {
			added := t - floating
			if added > p.plants[i].maxHeat()+slack || added < -p.plants[i].cool-slack || t < p.low[i]-slack || t > p.high[i]+slack {
				return
			}
			place := min(max(0, (t-p.low[i])/(p.high[i]-p.low[i])*float64(points-1)), float64(points-1))
			k := min(int(place), points-2)
			value := next[k] + (next[k+1]-next[k])*(place-float64(k))
			least = min(least, p.price[i]*p.plants[i].kwh(added)+value)
		}
		try(floating)
		try(floating + p.plants[i].heat)
		try(floating + p.plants[i].maxHeat())
		try(floating - p.plants[i].cool)
		for k := range points {
			try(at(i, k))
		}
		return least
	}
	for i := len(p.drift) - 1; i > 0; i-- {
		for k := range now {
			now[k] = min(best(i, p.house.a*at(i-1, k)+p.drift[i]), 1e6) // unreachable from there
		}
		next, now = now, next
	}
	return best(0, p.house.a*p.start+p.drift[0])
}

// realWeek returns a week of a real house in Chicago's typical year. The prices more
// than double from 16:00 to 21:00.
func realWeek(t *testing.T, name time.Month) (*problem, *path) {
	t.Helper()
	location, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	d := Device{
		Units: Fahrenheit, Settings: Settings{Mode: Auto, Min: 65, Heat: 68, Cool: 75, Max: 78},
		HeatingRate: 6, CoolingRate: 5, HeatTransferCoefficient: 0.04, IrradianceCoefficient: 1,
	}
	h := newHouse(&d)
	in := Input{Location: location}
	from := in.midnight(time.Date(2026, name, 10, 0, 0, 0, 0, time.UTC))
	c := &conditions{start: from.Add(-24 * time.Hour)}
	const warmUp, n = pricing.QuartersADay, 7 * pricing.QuartersADay
	c.weather = climate.Choose(climate.Place{Lat: 41.9, Lon: -87.6}).Series(c.start, warmUp+n, -87.6)
	c.clock = moments(c.start, warmUp+n, location)
	for _, m := range c.clock {
		price := 0.25
		if m.quarter >= 16*4 && m.quarter < 21*4 {
			price = 0.58
		}
		c.price = append(c.price, price)
	}
	held, _ := timetables(&d, &Request{})
	return newBaseline(c).hold(&h, held).month(&month{first: warmUp, count: n})
}

// TestOptimum_FineGrid checks that the exact optimum of a real week is within 1 % of
// the results of ever finer grids, and that finer grids come closer to it.
func TestOptimum_FineGrid(t *testing.T) {
	for _, month := range []time.Month{time.January, time.May, time.July} {
		p, base := realWeek(t, month)
		exact := newSolver(p).solve(0).cost
		before := math.Inf(1)
		for _, points := range []int{50, 100, 200} {
			off := math.Abs(p.onGrid(points)-exact) / base.cost
			if off > before {
				t.Errorf("%s: %.3f %% off on a grid of %d, %.3f %% on a coarser one", month, 100*off, points, 100*before)
			}
			before = off
		}
		t.Logf("%s: exact $%.4f of $%.4f, the finest grid %.3f %% off", month, exact, base.cost, 100*before)
		if before > 0.01 || base.cost < 0.5 {
			t.Errorf("%s: exact %v, the finest grid is %.2f %% off; the baseline costs %v", month, exact, 100*before, base.cost)
		}
	}
}

// TestEqualComfort_DualBound bounds the gap between equalComfort and the least cost at
// equal comfort by the dual of the program: no path beats that bound.
func TestEqualComfort_DualBound(t *testing.T) {
	for _, month := range []time.Month{time.January, time.May, time.July} {
		p, base := realWeek(t, month)
		s := newSolver(p)
		best := s.equalComfort(base)
		bound := math.Inf(-1)
		for worth := 0.0; worth < 0.05; worth += 0.00005 {
			x := s.solve(worth)
			bound = max(bound, x.cost+worth*(base.comfort-x.comfort))
		}
		if best.cost < bound-1e-6 || best.cost > bound+0.002*base.cost {
			t.Errorf("%s: cost %v, no path can be below %v; the baseline costs %v", month, best.cost, bound, base.cost)
		}
		if best.comfort < base.comfort-1e-6 || best.cost > 0.95*base.cost {
			t.Errorf("%s: comfort %v of %v, cost %v of %v", month, best.comfort, base.comfort, best.cost, base.cost)
		}
	}
}
