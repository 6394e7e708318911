package solar

import (
	"errors"
	"fmt"
	"math"

	"github.com/gridhook/gridhook/pricing/climate"
)

// Array describes the mounting of a home's modules, and the losses between modules and
// inverter.
type Array struct {
	Tilt    float64 // from the horizontal, 0 to 90
	Azimuth float64 // direction of the modules, clockwise from north, 0 to 360
	Losses  float64 // soiling, shading, wiring and so on, percent, 0 to 99
}

// DefaultArray is the default array of PVWatts: 20 degrees to the south, 14.08 % losses.
var DefaultArray = Array{Tilt: 20, Azimuth: 180, Losses: 14.08}

// ErrArray is wrapped by the errors of Check.
var ErrArray = errors.New("solar: unusable array")

// Check returns an error for each value out of bounds.
func (a Array) Check() error {
	within := func(name string, v, low, high float64) error {
		if v >= low && v <= high {
			return nil
		}
		return fmt.Errorf("%w: %s of %v; it must be from %v to %v", ErrArray, name, v, low, high)
	}
	const maxTilt, maxLosses = 90, 99
	return errors.Join(within("tilt", a.Tilt, 0, maxTilt), within("azimuth", a.Azimuth, 0, 360), within("losses", a.Losses, 0, maxLosses))
}

// The values of PVWatts for a standard module in an open rack and its inverter (PVWatts
// Version 5 Manual, sections 5 to 9).
const (
	temperatureCoefficient = -0.0047 // of the power, per C
	referenceTemperature   = 25.0
	referenceIrradiance    = 1000.0
	dcToAC                 = 1.2  // kW of modules per kW of inverter
	inverterEfficiency     = 0.96 // at its rated power
	albedo                 = 0.2
)

// output returns the AC power of the inverter, kW per kW of modules.
func (a Array) output(sun Sun, w climate.Weather) float64 {
	if sun.Elevation <= 0 || w.DNI+w.DHI <= 0 {
		return 0
	}
	incidence := a.incidence(sun)
	plane := a.planeOfArray(sun, w, incidence)
	beam := w.DNI * math.Max(incidence, 0)
	// The cover reflects some of the beam, but the whole beam heats the module.
	transmitted := math.Max(plane-beam*(1-cover(incidence)), 0)
	cell := cellTemperature(plane, w)
	dc := transmitted / referenceIrradiance * (1 + temperatureCoefficient*(cell-referenceTemperature))
	return inverter(dc * (1 - a.Losses/100))
}

// incidence returns the cosine of the angle between the sun and the array's normal.
func (a Array) incidence(s Sun) float64 {
	zenith, tilt := (90-s.Elevation)*degree, a.Tilt*degree
	return clamp(math.Cos(zenith)*math.Cos(tilt) + math.Sin(zenith)*math.Sin(tilt)*math.Cos((s.Azimuth-a.Azimuth)*degree))
}

// cellTemperature returns the temperature of the modules by Faiman, Prog. Photovolt. 16
// (2008) 307, with the coefficients of an open rack. As in PVWatts, the wind is scaled
// from the 30 feet of a weather station to 5 m.
func cellTemperature(plane float64, w climate.Weather) float64 {
	const u0, u1 = 25.0, 6.84 // W/(m2 K), W s/(m3 K)
	const height, station, exponent = 5.0, 9.144, 0.2
	wind := w.Wind * math.Pow(height/station, exponent)
	return w.Temperature + plane/(u0+u1*wind)
}

// inverter returns the AC power of a DC power, both per kW of modules. It uses the
// part-load curve of the PVWatts manual, section 9, limited to the rated power.
func inverter(dc float64) float64 {
	const a, b, c, reference = -0.0162, -0.0059, 0.9858, 0.9637
	const rated = 1 / dcToAC
	load := dc * inverterEfficiency / rated
	if load <= 0 {
		return 0
	}
	efficiency := (a*load + b/load + c) * inverterEfficiency / reference
	return min(math.Max(dc*efficiency, 0), rated)
}
