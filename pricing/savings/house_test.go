package savings

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing/climate"
)

// drawHouse draws a house that passes the checks.
func drawHouse(t *rapid.T) house {
	return newHouse(&Device{
		Units:                   rapid.SampledFrom([]Units{Celsius, Fahrenheit}).Draw(t, "units"),
		HeatingRate:             rapid.Float64Range(0.5, 20).Draw(t, "heating rate"),
		CoolingRate:             rapid.Float64Range(0.5, 20).Draw(t, "cooling rate"),
		HeatTransferCoefficient: rapid.Float64Range(0.005, 0.5).Draw(t, "heat transfer"),
		IrradianceCoefficient:   rapid.Float64Range(0, 5).Draw(t, "irradiance"),
		Equipment:               drawEquipment(t),
	})
}

func drawEquipment(t *rapid.T) Equipment {
	gains, auxiliary := rapid.Float64Range(0, 2).Draw(t, "gains"), rapid.SampledFrom([]float64{0, 5, 10}).Draw(t, "auxiliary")
	return Equipment{
		HeatSource:      rapid.SampledFrom([]HeatSource{"", HeatPump, Resistance, GasFurnace}).Draw(t, "source"),
		CapacityKw:      rapid.Float64Range(2, 20).Draw(t, "capacity"),
		SEER2:           rapid.Float64Range(10, 25).Draw(t, "SEER2"),
		HSPF2:           rapid.Float64Range(6, 13).Draw(t, "HSPF2"),
		InternalGainsKw: &gains, AuxiliaryKw: &auxiliary,
	}
}

// TestHouse_FreeFloating checks that a free-floating house approaches the outdoor
// temperature with the time constant 1/h. At every step it has the analytic
// temperature.
func TestHouse_FreeFloating(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawHouse(t)
		outdoor := rapid.Float64Range(-30, 45).Draw(t, "outdoor")
		balance := outdoor + x.g/x.h // where gains equal losses
		start := rapid.Float64Range(-10, 40).Draw(t, "start")
		temperature := start
		for step := 1; step <= 2000; step++ {
			temperature = x.a*temperature + x.drift(climate.Weather{Temperature: outdoor})
			want := balance + (start-balance)*math.Exp(-x.h*float64(step)*stepHours)
			if math.Abs(temperature-want) > 1e-9 {
				t.Fatalf("step %d: %v, want %v", step, temperature, want)
			}
		}
		if math.Abs(temperature-balance) > math.Abs(start-balance)*math.Exp(-x.h*500)+1e-9 {
			t.Fatalf("the temperature is %v, want %v", temperature, balance)
		}
	})
}

func TestHouse_TimeConstant(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 3, HeatTransferCoefficient: 0.05, Equipment: Equipment{InternalGainsKw: new(float64)}})
	temperature := 20.0
	for range int(1 / 0.05 / stepHours) {
		temperature = x.a*temperature + x.drift(climate.Weather{})
	}
	if math.Abs(temperature-20/math.E) > 1e-9 {
		t.Errorf("after 1/h hours %v, want %v", temperature, 20/math.E)
	}
}

// TestHouse_EnergyBalance integrates the differential equation in fine steps with the
// Runge-Kutta method. The energy balance of a step closes to 1e-6: the stored energy
// equals the gain from sun and device minus the loss.
func TestHouse_EnergyBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawHouse(t)
		temperature := rapid.Float64Range(10, 30).Draw(t, "start")
		start, gained, lost, moved := temperature, 0.0, 0.0, 0.0
		for range 4 * 24 {
			w := climate.Weather{Temperature: rapid.Float64Range(-30, 45).Draw(t, "outdoor"), GHI: rapid.Float64Range(0, 1100).Draw(t, "sun")}
			added := rapid.Float64Range(-x.rated.cool, x.rated.maxHeat()).Draw(t, "added")
			rate := x.s*w.GHI/1000 + x.g + added/x.b // degrees per hour
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
				t.Fatalf("the step ends at %v, the integration at %v", temperature, y)
			}
		}
		if open := (temperature - start) - (gained - lost); math.Abs(open) > 1e-6*max(1, moved) {
			t.Fatalf("the balance is off by %v of %v", open, moved)
		}
	})
}

// At 95 F a unit of 36,000 Btu/h and SEER2 14.3 draws 3.2 kW, at 82 F a fifth less per
// output: SEER2 is the efficiency there.
func TestPlant_CoolingByOutdoorTemperature(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, CoolingRate: -2, HeatTransferCoefficient: 0.1, Equipment: Equipment{SEER2: 14.3}})
	const capacity = 10.55 * stepHours
	for _, c := range []struct{ outdoor, output, efficiency float64 }{
		{27.78, 1.059, 14.3}, {35, 0.994, 11.41}, {43, 0.915, 8.74},
	} {
		p := x.plant(c.outdoor)
		if output := p.cool / x.rated.cool; math.Abs(output-c.output) > 0.002 {
			t.Errorf("at %v C: output %v of the rated, want %v", c.outdoor, output, c.output)
		}
		efficiency := btuPerWh * capacity * p.cool / x.rated.cool / p.kwh(-p.cool)
		if math.Abs(efficiency-c.efficiency) > 0.05 {
			t.Errorf("at %v C: %v Btu/Wh, want %v", c.outdoor, efficiency, c.efficiency)
		}
	}
}

// TestPlant_HeatPumpHSPF2 recomputes the HSPF2 of the model from the bins of AHRI
// 210/240 for region IV: load from 55 F, auxiliary heat for the load above the
// compressor's capacity, 7 % lost in cycling.
func TestPlant_HeatPumpHSPF2(t *testing.T) {
	hours := map[float64]float64{
		52: .103, 47: .093, 42: .100, 37: .109, 32: .126, 27: .087, 22: .055, 17: .036, 12: .026, 7: .013, 2: .006, -3: .002, -8: .001,
	}
	const rated = 7.5
	x := newHouse(&Device{Units: Celsius, HeatingRate: 3, HeatTransferCoefficient: 0.1, Equipment: Equipment{HSPF2: rated}})
	perKwh := x.b / (x.capacity * stepHours) // degrees per kWh of heat
	load, energy := 0.0, 0.0
	for fahrenheit, share := range hours {
		p := x.plant((fahrenheit - 32) / 1.8)
		needed := 1.15 * (55 - fahrenheit) / 50 * x.rated.heat
		cycling := 1 - 0.07*(1-min(1, needed/p.heat))
		compressor := min(needed, p.heat)
		load += share * needed / perKwh
		energy += share * (compressor*p.heatKwh/cycling + (needed-compressor)/perKwh)
	}
	if got := btuPerWh * load / energy; math.Abs(got-rated) > 0.02*rated {
		t.Errorf("HSPF2 %v, want %v", got, rated)
	}
}

// TestPlant_AuxiliaryHeatLast checks that auxiliary heat starts at the limit of the
// compressor, with the efficiency of resistance heat.
func TestPlant_AuxiliaryHeatLast(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 2, CoolingRate: 2, HeatTransferCoefficient: 0.1})
	p := x.plant(-15)
	if p.heat >= x.rated.heat || p.aux <= 0 || p.heatKwh >= p.auxKwh {
		t.Fatalf("%+v of %+v", p, x)
	}
	if got, want := p.kwh(p.maxHeat())-p.kwh(p.heat), 5*stepHours; math.Abs(got-want) > 1e-9 {
		t.Errorf("auxiliary heat takes %v kWh, want %v", got, want)
	}
	// The optimum needs the cheaper heat first, also of a heat pump below a coefficient of 1.
	poor := newHouse(&Device{Units: Celsius, HeatingRate: 2, HeatTransferCoefficient: 0.1, Equipment: Equipment{HSPF2: 3}})
	if p := poor.plant(-25); p.heatKwh <= poor.rated.auxKwh || p.auxKwh < p.heatKwh {
		t.Errorf("a poor heat pump: %+v", p)
	}
}

// TestPlant_FurnaceGas checks that a furnace uses gas, and electricity for its fan.
func TestPlant_FurnaceGas(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 4, HeatTransferCoefficient: 0.1, Equipment: Equipment{HeatSource: GasFurnace, CapacityKw: 20, AFUE: 0.9}})
	p := x.plant(-10)
	if therms, want := p.gas(p.heat), 20*stepHours/0.9/29.3001; math.Abs(therms-want) > 1e-9 {
		t.Errorf("%v therms, want %v", therms, want)
	}
	if kwh := p.kwh(p.heat); math.Abs(kwh-20*stepHours*furnaceFan) > 1e-9 || p.gas(-1) != 0 {
		t.Errorf("%v kWh", kwh)
	}
}

func TestThermostat_KeepsSetpoints(t *testing.T) {
	x := newHouse(&Device{Units: Celsius, HeatingRate: 4, CoolingRate: 4, HeatTransferCoefficient: 0.1})
	p := x.plant(8)
	s := Settings{Mode: Auto, Heat: 20, Cool: 24}
	for _, c := range []struct {
		mode           Mode
		floating, want float64
	}{
		{Auto, 19.5, 0.5}, {Auto, 22, 0}, {Auto, 24.25, -0.25}, {Auto, 10, p.maxHeat()}, {Auto, 40, -p.cool},
		{Heat, 30, 0}, {Heat, 15, p.maxHeat()}, {Cool, 10, 0}, {Cool, 30, -p.cool}, {Off, 0, 0}, {Off, 40, 0},
	} {
		s.Mode = c.mode
		if got := p.keep(c.floating, &s, s.Heat); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s at %v: %v, want %v", c.mode, c.floating, got, c.want)
		}
	}
	s.Mode = Heat
	if got := p.keep(10, &s, 15); got != p.heat+min(p.aux, 5-p.heat) {
		t.Errorf("recovering from 10 degrees with a lowest setpoint of 15: %v", got)
	}
}
