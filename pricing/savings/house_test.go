package savings

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing/climate"
)

// drawHouse is any house that the checks let through.
func drawHouse(t *rapid.T) house {
	return newHouse(&Device{
		Units:                   rapid.SampledFrom([]Units{Celsius, Fahrenheit}).Draw(t, "units"),
		HeatingRate:             rapid.Float64Range(0.5, 20).Draw(t, "heating rate"),
		CoolingRate:             rapid.Float64Range(0.5, 20).Draw(t, "cooling rate"),
		HeatTransferCoefficient: rapid.Float64Range(0.005, 0.5).Draw(t, "heat transfer"),
		IrradianceCoefficient:   rapid.Float64Range(0, 5).Draw(t, "irradiance"),
		HeatingKw:               rapid.Float64Range(0.5, 10).Draw(t, "heating kW"),
		CoolingKw:               rapid.Float64Range(0.5, 10).Draw(t, "cooling kW"),
	})
}

// A free-floating house comes to the outdoor temperature with the time constant
// 1/h: at every step it has the analytic temperature.
func TestAFreeHouseHasTheAnalyticTimeConstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawHouse(t)
		outdoor := rapid.Float64Range(-30, 45).Draw(t, "outdoor")
		start := rapid.Float64Range(-10, 40).Draw(t, "start")
		temperature := start
		for step := 1; step <= 2000; step++ {
			temperature = x.a*temperature + x.drift(climate.Weather{Temperature: outdoor})
			want := outdoor + (start-outdoor)*math.Exp(-x.h*float64(step)*stepHours)
			if math.Abs(temperature-want) > 1e-9 {
				t.Fatalf("step %d: %v, want %v", step, temperature, want)
			}
		}
		if math.Abs(temperature-outdoor) > math.Abs(start-outdoor)*math.Exp(-x.h*500)+1e-9 {
			t.Fatalf("%v has not come to %v", temperature, outdoor)
		}
	})
}

func TestTheTimeConstantIsTheInverseOfTheHeatTransfer(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 3, HeatTransferCoefficient: 0.05})
	temperature := 20.0
	for range int(1 / 0.05 / stepHours) {
		temperature = x.a*temperature + x.drift(climate.Weather{})
	}
	if math.Abs(temperature-20/math.E) > 1e-9 {
		t.Errorf("after 1/h hours %v, want %v", temperature, 20/math.E)
	}
}

// The energy balance of a step, found by integrating the differential equation in
// fine steps with the Runge-Kutta method, closes to 1e-6: what the house stores is
// what it gained from sun and device less what it lost.
func TestTheEnergyBalanceCloses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawHouse(t)
		temperature := rapid.Float64Range(10, 30).Draw(t, "start")
		start, gained, lost, moved := temperature, 0.0, 0.0, 0.0
		for range 4 * 24 {
			w := climate.Weather{Temperature: rapid.Float64Range(-30, 45).Draw(t, "outdoor"), GHI: rapid.Float64Range(0, 1100).Draw(t, "sun")}
			added := rapid.Float64Range(-x.cool, x.heat).Draw(t, "added")
			rate := x.s*w.GHI/1000 + added/x.b // degrees per hour
			slope := func(t float64) float64 { return x.h*(w.Temperature-t) + rate }
			const fine = 30
			dt := stepHours / fine
			y := temperature
			for range fine {
				k1 := slope(y)
				k2 := slope(y + dt/2*k1)
				k3 := slope(y + dt/2*k2)
				k4 := slope(y + dt*k3)
				after := y + dt/6*(k1+2*k2+2*k3+k4)
				middle := (y+after)/2 + dt/8*(k1-slope(after)) // Hermite
				lost += x.h * ((y+4*middle+after)/6 - w.Temperature) * dt
				y = after
			}
			gained += rate * stepHours
			moved += math.Abs(rate) * stepHours
			temperature = x.a*temperature + x.drift(w) + added
			if math.Abs(temperature-y) > 1e-6 {
				t.Fatalf("the step comes to %v, the integration to %v", temperature, y)
			}
		}
		if open := (temperature - start) - (gained - lost); math.Abs(open) > 1e-6*max(1, moved) {
			t.Fatalf("the balance is open by %v of %v", open, moved)
		}
	})
}

func TestKwh(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 4, CoolingRate: -2, HeatTransferCoefficient: 0.1, HeatingKw: 5})
	for _, c := range []struct{ added, want float64 }{
		{0, 0}, {x.heat, 5 * stepHours}, {x.heat / 2, 5 * stepHours / 2}, {-x.cool, DefaultKw * stepHours},
	} {
		if got := x.kwh(c.added); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v degrees: %v kWh, want %v", c.added, got, c.want)
		}
	}
}

func TestAThermostatKeepsItsSetpoints(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 4, CoolingRate: 4, HeatTransferCoefficient: 0.1})
	s := Settings{Mode: Auto, Heat: 20, Cool: 24}
	for _, c := range []struct {
		mode           Mode
		floating, want float64
	}{
		{Auto, 19.5, 0.5}, {Auto, 22, 0}, {Auto, 24.25, -0.25}, {Auto, 10, x.heat}, {Auto, 40, -x.cool},
		{Heat, 30, 0}, {Heat, 19, x.heat}, {Cool, 10, 0}, {Cool, 30, -x.cool}, {Off, 0, 0}, {Off, 40, 0},
	} {
		s.Mode = c.mode
		if got := x.keep(c.floating, &s); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s at %v: %v, want %v", c.mode, c.floating, got, c.want)
		}
	}
}
