package bill

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/solar"
)

// meter returns the used and generated energy of a request. A typical year begins on a
// 1st of January and follows the home's wall clock. sun names the weather station if the
// generation is typical.
func (h *Home) meter(t *Terms, r *Request) (m Meter, sun string, err error) {
	m = Meter{Step: time.Hour, Location: time.UTC, Load: r.Load, Solar: r.Generated}
	if m.Start, err = r.start(t, h.Location); err != nil {
		return m, "", err
	}
	if r.Start != "" {
		m.Location = h.Location
	}
	if m.Load == nil {
		m.Load, err = h.typicalLoad(m.Start, r)
	} else {
		m.Step, err = r.step()
	}
	switch {
	case err == nil && len(r.Generated) > 0 && len(r.Generated) != len(m.Load):
		return m, "", pricing.Invalid("generatedKwh", "has %d steps, but loadKwh has %d", len(r.Generated), len(m.Load))
	case err != nil || len(r.Generated) > 0 || h.Solar == nil || h.Solar.SizeKw == 0:
		return m, "", err
	case r.Start != "" || slices.ContainsFunc(m.Load, func(kwh float64) bool { return kwh < 0 }):
		if r.SolarKW != nil && *r.SolarKW > 0 {
			err = pricing.Invalid("solarSystemSizeKw", "generates in a typical year: it does not go with start, nor with loadKwh below 0")
		}
		return m, "", err
	}
	m.Solar, sun, err = h.typicalSolar(&m)
	return m, sun, err
}

// step returns the length of the load's steps, by default the length that fills a year.
func (r *Request) step() (time.Duration, error) {
	if r.StepMinutes != 0 {
		if !slices.Contains([]int{15, 30, 60}, r.StepMinutes) {
			return 0, pricing.Invalid("stepMinutes", "must be 15, 30 or 60, not %d", r.StepMinutes)
		}
		return time.Duration(r.StepMinutes) * time.Minute, nil
	}
	for _, step := range []time.Duration{time.Hour, 30 * time.Minute, 15 * time.Minute} {
		if n := time.Duration(len(r.Load)) * step / (24 * time.Hour); n == 365 || n == 366 {
			return step, nil
		}
	}
	return 0, pricing.Invalid("stepMinutes", "is required: the load's %d steps are no year of hours, half or quarter hours", len(r.Load))
}

// start returns the start of the first step. A typical year begins in the requested
// calendar year, or in a year with the tariff in force. It has a leap day if loadKwh has
// 366 days.
func (r *Request) start(t *Terms, location *time.Location) (time.Time, error) {
	switch year := time.Date(r.CalendarYear, time.January, 1, 0, 0, 0, 0, time.UTC); {
	case r.Start != "" && r.CalendarYear != 0:
		return year, pricing.Invalid("calendarYear", "selects a typical year and excludes start")
	case r.Start != "" && r.Load == nil:
		return year, pricing.Invalid("start", "needs loadKwh: the assumed energy is for a typical year")
	case r.Start != "" && location == nil:
		return year, pricing.Invalid("timezone", "must be known: start is a day by the home's calendar")
	case r.Start != "":
		day, err := pricing.ParseDate(r.Start)
		if err != nil {
			return year, pricing.Invalid("start", "must be a day such as 2026-01-01, not %q", r.Start)
		}
		return day.StartIn(location), nil
	case r.CalendarYear == 0:
		return yearInForce(t, r.hasLeapDay()), nil
	case r.CalendarYear < 1900 || r.CalendarYear > 2200 || isLeap(r.CalendarYear) != r.hasLeapDay():
		return year, pricing.Invalid("calendarYear", "must be from 1900 to 2200, and a leap year exactly if loadKwh has 366 days, not %d", r.CalendarYear)
	default:
		return year, nil
	}
}

// hasLeapDay reports whether loadKwh has the steps of 366 days.
func (r *Request) hasLeapDay() bool {
	step, err := r.step()
	return err == nil && time.Duration(len(r.Load))*step == 366*24*time.Hour
}

// typicalYear sets the weekdays of a typical year. It has no leap day.
const typicalYear = 2026

func isLeap(year int) bool {
	return time.Date(year, time.February, 29, 0, 0, 0, 0, time.UTC).Day() == 29
}

// yearInForce returns the start of a year, either with or without a leap day. The newest
// versions and riders of the tariff and of all parts have begun at that time.
func yearInForce(t *Terms, leap bool) time.Time {
	tariffs := []*pricing.Tariff{t.Tariff}
	for _, part := range t.Parts {
		tariffs = append(tariffs, part.Tariff)
	}
	var first pricing.Date // zero if no version and no rider has a first day
	for _, tariff := range tariffs {
		begins := []pricing.Date{tariff.Info().EffectiveFrom}
		for _, rider := range tariff.Riders() {
			begins = append(begins, rider.From)
		}
		for _, from := range begins {
			if first.Before(from) {
				first = from
			}
		}
	}
	year := cmp.Or(first.Year, typicalYear)
	for (pricing.Date{Year: year, Month: time.January, Day: 1}).Before(first) || isLeap(year) != leap {
		year++
	}
	return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
}

// typicalLoad spreads a year's energy over its hours, as measured or as usual at the
// place.
func (h *Home) typicalLoad(start time.Time, r *Request) ([]float64, error) {
	if r.AnnualKWh < 0 {
		return nil, pricing.Invalid("annualKwh", "must be above 0")
	}
	if h.Place == nil {
		return nil, pricing.Invalid("zipcode", "must be known: without a measured load, the energy is spread as is usual at the home's place")
	}
	house := solar.Home{AnnualKWh: h.AnnualKWh, Lat: h.Place.Lat, Lon: h.Place.Lon, Location: h.Location, Metered: h.Metered}
	var profile *solar.Profile
	if h.Metered != nil && h.own != nil && h.own.SizeKw > 0 {
		var err error
		if profile, err = solar.NewProfile(climate.Choose(*h.Place).Year, h.own.Array); err != nil {
			return nil, pricing.Invalid("tilt", "or azimuth or losses cannot be used: %v", err)
		}
		house.SizeKW = h.own.SizeKw
	}
	shape, annual := house.Load(profile)
	kwh := cmp.Or(r.AnnualKWh, annual)
	load := make([]float64, climate.Hours)
	for i := range load {
		at := start.Add(time.Duration(i) * time.Hour)
		load[i] = shape.Power(int(at.Month())-1, float64(at.Hour())+0.5)
	}
	perPower := kwh / sumOf(load) // the shape's year is 1 kWh only up to the rounding of its table
	for i := range load {
		load[i] *= perPower
	}
	return load, nil
}

// typicalSolar returns the array's output in each step of a typical year. It uses the sun
// at the instants when the home's wall clock shows the steps.
func (h *Home) typicalSolar(m *Meter) (series []float64, sun string, err error) {
	quarters := int(m.Step / pricing.Interval)
	switch {
	case h.Place == nil || h.Location == nil:
		return nil, "", pricing.Invalid("zipcode", "or timezone must be known: the sun depends on the home's place")
	case len(m.Load)*quarters != climate.Quarters:
		return nil, "", pricing.Invalid("loadKwh", "has %d steps of %v, but the solar generates in a typical year of 365 days: send such a year, a start or generatedKwh", len(m.Load), m.Step)
	}
	chosen := climate.Choose(*h.Place)
	sun = fmt.Sprintf("%s, %s, %.0f km away, %.0f m higher, climate zone %s (the home's: %s)",
		chosen.Name, chosen.State, chosen.Km, chosen.MetersUp, chosen.Zone, cmp.Or(chosen.HomeZone, "not known"))
	profile, err := solar.NewProfile(chosen.Year, h.Solar.Array)
	if err != nil {
		return nil, "", pricing.Invalid("tilt", "or azimuth or losses cannot be used: %v", err)
	}
	series = make([]float64, len(m.Load))
	for i := range climate.Quarters {
		shown := m.Start.Add(time.Duration(i) * pricing.Interval)
		at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), 0, 0, h.Location)
		series[i/quarters] += h.Solar.SizeKw * profile.PowerAt(at, h.Place.Lon) / 4
	}
	return series, sun, nil
}
