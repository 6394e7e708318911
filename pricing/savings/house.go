package savings

import (
	"math"

	"github.com/gridhook/gridhook/pricing/climate"
)

// stepHours is the length of a step.
const stepHours = 0.25

// house is the first-order model of a house, in Celsius and hours:
//
//	dT/dt = h (Tout - T) + s I + g + q
//
// with the heat transfer coefficient h, the irradiance coefficient s, the global
// irradiance I in kW/m2, the internal gains g and the device's rate q. The exact solution
// over a step with constant inputs is
//
//	T' = a T + (1-a) Tout + b (s I + g + q),   a = exp(-h dt),   b = (1-a)/h
//
// The heat capacity converts degrees to kWh. It is the unit's sensible output over its
// rate of temperature change.
type house struct {
	h, s, g, a, b float64
	rated         plant // at rated output and an input of 1
	source        HeatSource
	gasPrice      float64   // $/therm
	capacity      float64   // kWh per degree
	equipment     Equipment // with defaults
	warmer        float64   // outdoor temperature above the weather data's temperature
}

func newHouse(d *Device) house {
	e := d.Equipment.withDefaults()
	x := house{h: d.HeatTransferCoefficient, s: d.Units.degrees(d.IrradianceCoefficient), source: e.HeatSource, gasPrice: e.GasPrice, equipment: e}
	x.a = math.Exp(-x.h * stepHours)
	x.b = -math.Expm1(-x.h*stepHours) / x.h
	heating, cooling := d.Units.degrees(d.HeatingRate), math.Abs(d.Units.degrees(d.CoolingRate))
	x.rated.heat, x.rated.cool = x.b*heating, x.b*cooling
	x.capacity = e.CapacityKw / heating
	if cooling > 0 {
		x.capacity = e.CapacityKw * sensibleShare / cooling
	}
	x.g = *e.InternalGainsKw / x.capacity
	x.setEnergy(heating > 0)
	return x
}

// setEnergy sets the energy per degree.
func (x *house) setEnergy(heats bool) {
	e, p, perDegree := &x.equipment, &x.rated, x.capacity*stepHours/x.b // kWh of heat
	efficiency := e.SEER2 / btuPerWh * coolInput.at(seerOutdoor)
	p.coolKwh = perDegree / sensibleShare / efficiency
	p.heatKwh = perDegree
	switch x.source {
	case GasFurnace:
		p.heatKwh, p.therms = perDegree*furnaceFan, perDegree/e.AFUE/kwhPerTherm
	case HeatPump:
		p.heatKwh *= btuPerWh * hspfShare / e.HSPF2
		if heats {
			p.aux = *e.AuxiliaryKw * stepHours / perDegree
		}
	}
	if p.auxKwh = p.heatKwh; p.aux > 0 {
		p.auxKwh = perDegree
	}
}

// drift returns the temperature that a step adds to a T without the device.
func (x *house) drift(w climate.Weather) float64 {
	return (1-x.a)*w.Temperature + x.b*(x.s*w.GHI/1000+x.g)
}

// plant is the device at one outdoor temperature, or at its rated output. Output is in
// degrees, electricity in kWh per degree. Auxiliary heat starts after the heat pump's full
// output.
type plant struct {
	heat, aux, cool          float64
	heatKwh, auxKwh, coolKwh float64
	therms                   float64 // per degree
}

func (x *house) plant(outdoor float64) plant {
	p := x.rated
	p.cool *= coolCapacity.at(outdoor)
	p.coolKwh *= coolInput.at(outdoor)
	if x.source == HeatPump {
		p.heat *= heatCapacity.at(outdoor)
		p.heatKwh *= heatInput.at(outdoor)
		p.auxKwh = max(p.auxKwh, p.heatKwh)
	}
	return p
}

// maxHeat returns the greatest heating output, including auxiliary heat.
func (p *plant) maxHeat() float64 { return p.heat + p.aux }

// kwh returns the electricity of a step that adds some degrees. Negative degrees are
// cooling.
func (p *plant) kwh(added float64) float64 {
	if added < 0 {
		return -added * p.coolKwh
	}
	compressor := min(added, p.heat)
	return compressor*p.heatKwh + (added-compressor)*p.auxKwh
}

// gas returns the gas of a step that adds some degrees, in therms.
func (p *plant) gas(added float64) float64 { return max(0, added) * p.therms }

// keep returns the temperature change from an ideal thermostat. floating is the
// temperature at the end of the step without the device. The device moves it to the
// setpoint, limited by its output. Auxiliary heat holds at most the lowest heating
// setpoint of the timetable. The compressor alone therefore recovers from a setback.
func (p *plant) keep(floating float64, s *Settings, lowest float64) float64 {
	switch {
	case s.Mode.heats() && floating < s.Heat:
		added := min(s.Heat-floating, p.heat)
		return added + min(max(0, lowest-floating-added), p.aux)
	case s.Mode.cools() && floating > s.Cool:
		return -min(floating-s.Cool, p.cool)
	}
	return 0
}
