package solar

import (
	"math"
	"time"
)

// EquationOfTime returns how far a sundial is ahead of a clock of mean time.
func EquationOfTime(t time.Time) time.Duration {
	days := float64(t.UnixNano())/1e9/secondsADay + julianEpoch - j2000
	rightAscension, _ := apparent((days + deltaT/secondsADay) / century)
	// At hour angle 0 the sun is in the south. A mean sun would be there at noon.
	noon := (days + 0.5) - math.Floor(days+0.5)
	hourAngle := siderealTime(days) - rightAscension
	ahead := math.Remainder(hourAngle-noon*360+180, 360)
	return time.Duration(ahead * 4 * float64(time.Minute))
}

// Monthly returns the energy of each month, kWh per kW of modules.
func (p *Profile) Monthly() (months [12]float64) {
	for month := range months {
		for _, power := range p.power[firstDays[month]*quartersADay : firstDays[month+1]*quartersADay] {
			months[month] += float64(power) / 4
		}
	}
	return months
}

// Annual returns the energy of the year, kWh per kW of modules.
func (p *Profile) Annual() float64 {
	sum := 0.0
	for _, month := range p.Monthly() {
		sum += month
	}
	return sum
}

// Cover and AirMass are functions of the irradiance.
var (
	Cover   = cover
	AirMass = airMass
)

// Apparent returns the elevation with atmospheric refraction at a pressure (hPa) and a
// temperature (C), by Saemundsson (1986). It ignores refraction below -1 degree.
func (s Sun) Apparent(pressure, temperature float64) float64 {
	if s.Elevation < -1 {
		return s.Elevation
	}
	h := s.Elevation
	minutes := 1.02 / math.Tan((h+10.3/(h+5.11))*degree) * pressure / 1010 * 283 / (273 + temperature)
	return h + minutes/60
}
