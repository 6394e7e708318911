package storage

import (
	"slices"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/regime"
	"github.com/gridhook/gridhook/pricing/solar"
)

// Solar is the solar system of a home.
type Solar struct {
	HomeID        string  `json:"homeId" pattern:"id"`
	SizeKw        float64 `json:"solarSystemSizeKw" exclusiveMinimum:"0" maximum:"1000" doc:"The system's size in kW, above 0 and at most 1000."`
	NonNetMetered bool    `json:"isNonNetMetered" doc:"isNonNetMetered solar is never paid the retail rate."`
	SolarSettings
	Base
}

// SolarSettings holds optional facts about a system. A nil field has its default: 20
// degrees to the south with losses of 14.08 percent.
type SolarSettings struct {
	Tilt            *float64           `json:"tilt,omitempty" minimum:"0" maximum:"90" doc:"The angle of the modules from the horizontal, in degrees; null for the usual 20."`
	Azimuth         *float64           `json:"azimuth,omitempty" minimum:"0" maximum:"360" doc:"Where the modules face, in degrees clockwise from north; null for the usual south."`
	Losses          *float64           `json:"losses,omitempty" minimum:"0" maximum:"99" doc:"What soiling, shading, wiring and so on lose, in percent; null for the usual 14.08."`
	ExportValues    string             `json:"exportValues,omitempty" doc:"The values that net billing pays this home by the hour, such as PG&E NBT24, in the place of those of its rate plan."`
	AccPlus         netbilling.Segment `json:"accPlus,omitempty" doc:"The segment by which California's net billing adds to the export values for nine years: GENERAL, LOW_INCOME or NEW_HOME. Needs connectionYear."`
	ConnectionYear  int                `json:"connectionYear,omitempty" minimum:"1970" maximum:"2100" doc:"The year in which the system was connected to the grid."`
	ApplicationDate string             `json:"applicationDate,omitempty" format:"date" doc:"The day on which the interconnection was applied for. It decides the net-metering regime; connectionYear does where it is not given and leaves no choice."`
}

// Regime returns the net-metering regime of the system at a utility, by its EIA number.
func (s *SolarSettings) Regime(state string, eiaID int) pricing.Regime {
	date, _ := pricing.ParseDate(s.ApplicationDate) // Validate has checked the date
	return regime.Of(state, eiaID, regime.Application{Date: date, Year: s.ConnectionYear})
}

// Array returns the mounting of the modules, with defaults for unknown values.
func (s *SolarSettings) Array() solar.Array {
	usual := solar.DefaultArray
	a := solar.Array{Tilt: known(s.Tilt, usual.Tilt), Azimuth: known(s.Azimuth, usual.Azimuth), Losses: known(s.Losses, usual.Losses)}
	if a == (solar.Array{}) {
		a.Azimuth = usual.Azimuth // flat modules face nowhere, and the zero value stands for the default array
	}
	return a
}

// known returns *v, or usual if v is nil.
func known(v *float64, usual float64) float64 {
	if v == nil {
		return usual
	}
	return *v
}

// SolarRef names the solar of a home.
func SolarRef(org, homeID string) Ref { return Ref{KindSolar, org, homeID} }

// Ref names the solar by its home.
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
	p.Check(s.AccPlus == "" || slices.Contains(netbilling.Segments(), s.AccPlus), "accPlus", "must be one of %v", netbilling.Segments())
	p.Check(s.ConnectionYear == 0 || s.ConnectionYear >= firstConnection && s.ConnectionYear <= lastConnection,
		"connectionYear", "must be from %d to %d", firstConnection, lastConnection)
	_, err := pricing.ParseDate(s.ApplicationDate)
	p.Check(s.ApplicationDate == "" || err == nil, "applicationDate", "must be a day such as 2023-04-14")
	p.Check(s.AccPlus == "" || s.ConnectionYear != 0, "connectionYear", "must be given with accPlus: the adder depends on it")
}

// firstConnection and lastConnection bound the year of a system's connection to the grid.
const (
	firstConnection = 1970
	lastConnection  = 2100
)

// checkWithin bounds an optional number.
func checkWithin(p *Problems, field string, v *float64, least, most float64, unit string) {
	p.Check(v == nil || *v >= least && *v <= most, field, "must be from %v to %v %s", least, most, unit)
}
