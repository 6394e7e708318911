package savings

import (
	"math"
	"testing"
	"time"
)

// In AUTO the optimum heats at most to the cooling setpoint, and cools at most to the heating
// setpoint. It meets the baseline where the season changes, and at the end.
func TestProblem_Bounds(t *testing.T) {
	set := &Settings{Mode: Auto, Min: 15, Heat: 20, Cool: 24, Max: 30}
	p := &problem{warm: []float64{1, 1, -1, -1}, plants: make([]plant, 4)}
	p.limit([]*Settings{set, set, set, set})
	p.tie([]float64{20, 21, 22, 23})
	for i, want := range [][2]float64{{15, 24}, {21, 21}, {20, 30}, {23, 23}} {
		if math.Abs(p.low[i]-want[0]) > 2*slack || math.Abs(p.high[i]-want[1]) > 2*slack {
			t.Errorf("step %d: from %v to %v, want %v", i, p.low[i], p.high[i], want)
		}
	}
}

// A negative price is no reason to heat against the cooling.
func TestOptimum_NegativePrice(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 3, CoolingRate: 3, HeatTransferCoefficient: 0.05, Equipment: Equipment{InternalGainsKw: new(float64)}})
	p := &problem{house: &x, start: 22, warm: []float64{-1, -1, -1, -1}}
	for range p.warm {
		p.drift = append(p.drift, (1-x.a)*22) // it stays at 22 C
		p.price, p.plants = append(p.price, -0.05), append(p.plants, x.plant(22))
		p.low, p.high = append(p.low, 20), append(p.high, 24)
	}
	for i, added := range newSolver(p).solve(0).added {
		if added != 0 {
			t.Errorf("step %d adds %v C", i, added)
		}
	}
}

// The setpoints are ENERGY STAR's for programmable thermostats: 70 F and 78 F at home, 62 F and
// 85 F away on working days from 8:00 to 18:00, 62 F and 82 F at night from 22:00 to 6:00.
func TestUsualSchedule_EnergyStar(t *testing.T) {
	celsius := func(f float64) float64 { return (f - 32) * 5 / 9 }
	home := Settings{Mode: Auto, Min: celsius(50), Heat: celsius(70), Cool: celsius(78), Max: celsius(90)}
	schedule := newTimetable(home, usualSchedule(home), nil)
	const sunday, monday = 0, 1
	for _, tt := range []struct {
		weekday, hour uint8
		heat, cool    float64
	}{
		{monday, 5, 62, 82}, {monday, 6, 70, 78}, {monday, 7, 70, 78}, {monday, 8, 62, 85}, {monday, 17, 62, 85}, {monday, 18, 70, 78},
		{monday, 21, 70, 78}, {monday, 22, 62, 82}, {sunday, 12, 70, 78}, {sunday, 23, 62, 82},
	} {
		s := schedule.at(moment{weekday: tt.weekday, quarter: tt.hour * 4})
		if math.Abs(s.Heat-celsius(tt.heat)) > 1e-9 || math.Abs(s.Cool-celsius(tt.cool)) > 1e-9 {
			t.Errorf("day %d, %d:00: %+v, want %v and %v F", tt.weekday, tt.hour, s, tt.heat, tt.cool)
		}
	}
}

// Four of five cases are within 1.2816 standard deviations, one of ten on each side beyond them.
func TestUncertainty_FourOfFive(t *testing.T) {
	if beyond := math.Erfc(eighty/math.Sqrt2) / 2; math.Abs(beyond-0.1) > 1e-5 {
		t.Errorf("%v of the cases are beyond %v standard deviations, want 0.1", beyond, eighty)
	}
}

// A day whose midnight the clock skips starts at its first moment.
func TestMidnight_Skipped(t *testing.T) {
	in := Input{Location: zoneOf(t, "America/Havana")}
	for day, want := range map[int]string{7: "2026-03-07T05:00:00Z", 8: "2026-03-08T05:00:00Z", 9: "2026-03-09T04:00:00Z"} {
		if got := in.midnight(time.Date(2026, time.March, day, 0, 0, 0, 0, time.UTC)).Format(time.RFC3339); got != want {
			t.Errorf("%d March: %s, want %s", day, got, want)
		}
	}
}
