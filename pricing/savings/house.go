package savings

import (
	"math"

	"github.com/gridhook/gridhook/pricing/climate"
)

// stepHours is the length of a step.
const stepHours = 0.25

// house is the first-order model of a house, in Celsius and hours:
//
//	dT/dt = h (Tout - T) + s I + q
//
// with the heat transfer coefficient h, the irradiance coefficient s, the global
// irradiance I in kW/m2 and the device's rate q, between -coolingRate and
// heatingRate. Over a step with constant inputs its exact solution is
//
//	T' = a T + (1-a) Tout + b (s I + q),   a = exp(-h dt),   b = (1-a)/h
type house struct {
	h, s           float64
	a, b           float64
	heat, cool     float64 // degrees that a step at full output adds or takes
	heatKw, coolKw float64
}

func newHouse(d *Device) house {
	x := house{h: d.HeatTransferCoefficient, s: d.Units.degrees(d.IrradianceCoefficient)}
	x.a = math.Exp(-x.h * stepHours)
	x.b = -math.Expm1(-x.h*stepHours) / x.h
	x.heat = x.b * d.Units.degrees(d.HeatingRate)
	x.cool = x.b * math.Abs(d.Units.degrees(d.CoolingRate))
	x.heatKw, x.coolKw = orDefault(d.HeatingKw), orDefault(d.CoolingKw)
	return x
}

func orDefault(kw float64) float64 {
	if kw == 0 {
		return DefaultKw
	}
	return kw
}

// drift is what a step adds to a T without the device.
func (x *house) drift(w climate.Weather) float64 {
	return (1-x.a)*w.Temperature + x.b*x.s*w.GHI/1000
}

// kwh is the energy of a step in which the device adds (or, below 0, takes) some
// degrees.
func (x *house) kwh(added float64) float64 {
	switch {
	case added > 0:
		return added / x.heat * x.heatKw * stepHours
	case added < 0:
		return -added / x.cool * x.coolKw * stepHours
	}
	return 0
}

// keep is what an ideal thermostat adds to a temperature that the house would
// have at the end of the step: what is missing to the setpoint, as far as the
// device can.
func (x *house) keep(floating float64, s *Settings) float64 {
	switch {
	case s.Mode.heats() && floating < s.Heat:
		return min(s.Heat-floating, x.heat)
	case s.Mode.cools() && floating > s.Cool:
		return -min(floating-s.Cool, x.cool)
	}
	return 0
}
