package savings_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/savings"
)

// city is a home's place.
type city struct {
	name     string
	lat, lon float64
	zone     string
}

// cities are in six climates: hot and dry, hot and humid, mild, mixed, cold, and
// very cold.
var cities = []city{
	{"Phoenix", 33.45, -112.07, "America/Phoenix"},
	{"Miami", 25.76, -80.19, "America/New_York"},
	{"Los Angeles", 34.05, -118.24, "America/Los_Angeles"},
	{"Baltimore", 39.29, -76.61, "America/New_York"},
	{"Chicago", 41.88, -87.63, "America/Chicago"},
	{"Duluth", 46.79, -92.10, "America/Chicago"},
}

var chicago = cities[4]

// tariff gives the price of a local hour.
type tariff struct {
	name  string
	price func(local time.Time) float64
}

// Published residential time-of-use rates of 2026, $/kWh without fixed charges.
var (
	flatRate = tariff{"flat", func(time.Time) float64 { return 0.2 }}

	// PG&E Schedule E-ELEC, effective 2026-03-01.
	pgeElec = tariff{"PG&E E-ELEC", func(local time.Time) float64 {
		peak, part, off := 0.32063, 0.29854, 0.28468
		if m := local.Month(); m >= time.June && m <= time.September {
			peak, part, off = 0.55214, 0.39026, 0.33358
		}
		switch h := local.Hour(); {
		case h >= 16 && h < 21:
			return peak
		case h >= 15:
			return part
		}
		return off
	}}

	// SCE Schedule TOU-D, option PRIME, effective 2026-06-01.
	scePrime = tariff{"SCE TOU-D-PRIME", func(local time.Time) float64 {
		m, weekend := local.Month(), local.Weekday() == time.Saturday || local.Weekday() == time.Sunday
		summer, peak := m >= time.June && m <= time.September, local.Hour() >= 16 && local.Hour() < 21
		switch {
		case summer && peak && weekend:
			return 0.40182
		case summer && peak:
			return 0.59291
		case summer:
			return 0.26698
		case peak:
			return 0.56646
		}
		return 0.24633
	}}

	// PECO Residential Service, time of use, as in force on 2026-08-05.
	peco = tariff{"PECO R-TOU", func(local time.Time) float64 {
		weekend := local.Weekday() == time.Saturday || local.Weekday() == time.Sunday
		switch h := local.Hour(); {
		case h < 6:
			return 0.15644
		case h >= 14 && h < 18 && !weekend:
			return 0.42055
		}
		return 0.176
	}}
)

// prices is a tariff as the input wants it.
func (f tariff) prices(location *time.Location) func(pricing.Window) ([]float64, error) {
	return func(w pricing.Window) ([]float64, error) {
		all := make([]float64, w.Len())
		for i := range all {
			all[i] = f.price(w.At(i).In(location))
		}
		return all, nil
	}
}

// device is a house with a time constant of 25 hours and a unit that moves it by 5
// or 6 F an hour.
func device() savings.Device {
	return savings.Device{
		ID: "dev_1", Units: savings.Fahrenheit,
		Settings:    savings.Settings{Mode: savings.Auto, Min: 65, Heat: 68, Cool: 75, Max: 78},
		HeatingRate: 6, CoolingRate: 5, HeatTransferCoefficient: 0.04, IrradianceCoefficient: 1,
	}
}

// home is a home in a city on a tariff, asked for a calendar year.
func home(t testing.TB, at city, on tariff) savings.Input {
	t.Helper()
	location, err := time.LoadLocation(at.zone)
	if err != nil {
		t.Fatal(err)
	}
	return savings.Input{
		HomeID: "home_1", Place: &climate.Place{Lat: at.lat, Lon: at.lon}, Location: location,
		Prices: on.prices(location), Devices: []savings.Device{device()},
		Request: savings.Request{Type: savings.Annual, Start: savings.Start{Month: ptr(1)}},
		Today:   pricing.Date{Year: 2026, Month: 1, Day: 5},
	}
}

func ptr[T any](v T) *T { return &v }

func estimate(t testing.TB, in savings.Input) *savings.Result {
	t.Helper()
	r, err := savings.Estimate(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
