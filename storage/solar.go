package storage

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/regime"
	"github.com/gridhook/gridhook/pricing/solar"
)

// Solar is the solar system of a home.
type Solar struct {
	HomeID        string  `json:"homeId" pattern:"id"`
	SizeKw        float64 `json:"solarSystemSizeKw" exclusiveMinimum:"0" maximum:"1000" doc:"The system's size in kW, above 0 and at most 1000."`
	NonNetMetered bool    `json:"isNonNetMetered" doc:"Whether exported energy never earns the retail rate."`
	SolarSettings
	Base
}

// SolarSettings holds optional facts about a system. A nil field has its default: 20
// degrees to the south with losses of 14.08 percent.
type SolarSettings struct {
	Tilt            *float64           `json:"tilt,omitempty" minimum:"0" maximum:"90" doc:"The angle of the modules from the horizontal, in degrees. null means 20."`
	Azimuth         *float64           `json:"azimuth,omitempty" minimum:"0" maximum:"360" doc:"The direction of the modules, in degrees clockwise from north. null means south."`
	Losses          *float64           `json:"losses,omitempty" minimum:"0" maximum:"99" doc:"The losses by soiling, shading, wiring and so on, in percent, not as a fraction: 0, or 1 to 99. null means 14.08."`
	ExportValues    string             `json:"exportValues,omitempty" doc:"The hourly export values of the home's net billing, such as PG&E NBT24, by default the utility's values for the year of applicationDate."`
	AccPlus         netbilling.Segment `json:"accPlus,omitempty" doc:"The segment of California's nine-year adder to the export values: GENERAL, LOW_INCOME or NEW_HOME. Requires connectionYear."`
	ConnectionYear  int                `json:"connectionYear,omitempty" minimum:"1970" maximum:"2100" doc:"The year in which the system was connected to the grid: at most four years ahead, and not before the year of applicationDate."`
	ApplicationDate string             `json:"applicationDate,omitempty" format:"date" doc:"The day of the interconnection application, at most a year ahead. It decides the net-metering regime and the vintage of the export values. Without it, connectionYear decides if the year has one regime."`
}

// Regime returns the net-metering regime of the system at a utility, by its EIA number.
func (s *SolarSettings) Regime(state string, eiaID int) pricing.Regime {
	return regime.Of(state, eiaID, s.application())
}

// Applied returns the first and the last year in which the home may have applied for the
// system's interconnection. Both are 0 if nothing is known.
func (s *SolarSettings) Applied() (first, last int) { return s.application().Years() }

func (s *SolarSettings) application() regime.Application {
	date, _ := pricing.ParseDate(s.ApplicationDate) // the tag format has checked the date
	return regime.Application{Date: date, Year: s.ConnectionYear}
}

// Array returns the mounting of the modules, with defaults for unknown values.
func (s *SolarSettings) Array() solar.Array {
	usual := solar.DefaultArray
	return solar.Array{Tilt: known(s.Tilt, usual.Tilt), Azimuth: known(s.Azimuth, usual.Azimuth), Losses: known(s.Losses, usual.Losses)}
}

// known returns *v, or usual if v is nil.
func known(v *float64, usual float64) float64 {
	if v == nil {
		return usual
	}
	return *v
}

// Ref names the solar by its home.
func (s *Solar) Ref() Ref { return KindSolar.Ref(s.OrganizationID, s.HomeID) }

// Check adds every wrong field.
func (s *Solar) Check(p *Problems) {
	if s.ExportValues != "" {
		_, published := netbilling.Named(s.ExportValues)
		p.Check(published, "exportValues", "must be one of %s", strings.Join(netbilling.Names(), ", "))
	}
	p.Check(s.AccPlus == "" || s.ConnectionYear != 0, "connectionYear", "is required with accPlus: the adder depends on it")
}

// maxAhead is the maximum number of years from now to a connection. A home may apply up to a
// year ahead, and a system may be connected up to three years later.
const maxAhead = 4

// CheckInput names every field that cannot be right at a time for the home in a view. Only
// new input is checked: solar that is stored stays valid.
func (s *Solar) CheckInput(p *Problems, v View, now time.Time) {
	stored, _, err := Read[Solar](v, s.Ref())
	if err == nil && reflect.DeepEqual(stored.SolarSettings, s.SolarSettings) {
		return
	}
	if l := s.Losses; l != nil && *l > 0 && *l < 1 {
		p.Addf("losses", "must be in percent: %v looks like a fraction, which is %.4g percent", *l, *l*100)
	}
	applied, err := time.Parse(time.DateOnly, s.ApplicationDate)
	dated := err == nil
	p.Check(!dated || !applied.After(now.AddDate(1, 0, 0)), "applicationDate", "must be at most a year ahead, not %s", s.ApplicationDate)
	p.Check(s.ConnectionYear <= now.Year()+maxAhead, "connectionYear", "must be at most %d, four years ahead, not %d", now.Year()+maxAhead, s.ConnectionYear)
	p.Check(!dated || s.ConnectionYear == 0 || s.ConnectionYear >= applied.Year(), "connectionYear",
		"must not be before the year of applicationDate, %d: a system is connected after its application", applied.Year())
	s.checkUtility(p, v)
}

// checkUtility adds an error if the export values are of another utility than the home's. A
// home whose utilities are not known, or pay no such values in California, is not checked.
func (s *Solar) checkUtility(p *Problems, v View) {
	values, ok := netbilling.Named(s.ExportValues)
	if !ok {
		return
	}
	home, _, err := Read[Home](v, KindHome.Ref(s.OrganizationID, s.HomeID))
	if err != nil {
		return // the caller reports a missing home
	}
	places := eligibility.Checker{Overrides: Overrides(v)}
	area, known := places.Area(home.Zipcode)
	if !known {
		return
	}
	serves := func(eiaID int) bool {
		return slices.ContainsFunc(area.Utilities, func(u eligibility.Utility) bool { return u.EIAID == eiaID })
	}
	other := area.State != "CA" || slices.ContainsFunc(netbilling.Payers(), serves)
	p.Check(!other || serves(values.Payer()), "exportValues", "are of a utility that does not serve the home's zipcode %s", home.Zipcode)
}
