package storage

import (
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/solar"
)

// Solar is what generates at a home.
type Solar struct {
	HomeID string `json:"homeId"`
	// SizeKw is the system's size in kW, above 0 and at most 1000.
	SizeKw float64 `json:"solarSystemSizeKw"`
	// NonNetMetered solar is never paid the retail rate.
	NonNetMetered bool `json:"isNonNetMetered"`
	SolarSettings
	Base
}

// SolarSettings are what may be known of a system beyond its size. What is nil is
// as usual: 20 degrees to the south with losses of 14.08 percent.
type SolarSettings struct {
	// Tilt is the angle of the modules from the horizontal, 0 to 90 degrees.
	Tilt *float64 `json:"tilt,omitempty"`
	// Azimuth is where the modules face, in degrees clockwise from north, 0 to 360.
	Azimuth *float64 `json:"azimuth,omitempty"`
	// Losses are those of soiling, shading, wiring and so on, 0 to 99 percent.
	Losses *float64 `json:"losses,omitempty"`
	// ExportValues names the values that net billing pays this home by the hour,
	// such as "PG&E NBT24", in the place of those of its rate plan.
	ExportValues string `json:"exportValues,omitempty"`
}

// Array is how the modules are mounted, with what is usual for what is not known.
func (s *SolarSettings) Array() solar.Array {
	usual := solar.DefaultArray
	a := solar.Array{Tilt: known(s.Tilt, usual.Tilt), Azimuth: known(s.Azimuth, usual.Azimuth), Losses: known(s.Losses, usual.Losses)}
	if a == (solar.Array{}) {
		a.Azimuth = usual.Azimuth // flat modules face nowhere, and the zero value stands for the usual array
	}
	return a
}

// known is a number that may be absent, or what is usual.
func known(v *float64, usual float64) float64 {
	if v == nil {
		return usual
	}
	return *v
}

// SolarRef names the solar of a home.
func SolarRef(org, homeID string) Ref { return Ref{KindSolar, org, homeID} }

// Ref names the solar, by its home.
func (s *Solar) Ref() Ref { return SolarRef(s.OrganizationID, s.HomeID) }

// Validate names every wrong field.
func (s *Solar) Validate() error {
	var p Problems
	checkID(&p, "homeId", s.HomeID)
	p.Check(s.SizeKw > 0 && s.SizeKw <= 1000, "solarSystemSizeKw", "must be above 0 and at most 1000 kW")
	s.check(&p)
	return p.Err()
}

// check names every wrong setting.
func (s *SolarSettings) check(p *Problems) {
	checkWithin(p, "tilt", s.Tilt, 0, 90, "degrees")
	checkWithin(p, "azimuth", s.Azimuth, 0, 360, "degrees")
	checkWithin(p, "losses", s.Losses, 0, 99, "percent")
	if s.ExportValues != "" {
		_, published := netbilling.Named(s.ExportValues)
		p.Check(published, "exportValues", "must name published values such as %q", netbilling.Names()[0])
	}
}

// checkWithin bounds a number that may be absent.
func checkWithin(p *Problems, field string, v *float64, least, most float64, unit string) {
	p.Check(v == nil || *v >= least && *v <= most, field, "must be from %v to %v %s", least, most, unit)
}
