package storage_test

import (
	"slices"
	"testing"

	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

func TestSolarSettingsValidate(t *testing.T) {
	valid := func() storage.Solar { return storage.Solar{HomeID: "h", SizeKw: 5} }
	check(t, valid, slices.Concat(
		within("tilt", func(s *storage.Solar, v float64) { s.Tilt = &v }, []float64{0, 90}, []float64{-0.1, 90.1}),
		within("azimuth", func(s *storage.Solar, v float64) { s.Azimuth = &v }, []float64{0, 360}, []float64{-1, 361}),
		within("losses", func(s *storage.Solar, v float64) { s.Losses = &v }, []float64{0, 99}, []float64{-1, 100}),
		[]tweak[storage.Solar]{
			{"export values", func(s *storage.Solar) { s.ExportValues = "PG&E NBT24" }, ""},
			{"no such export values", func(s *storage.Solar) { s.ExportValues = "PG&E NBT99" }, "exportValues"},
			{"adder", func(s *storage.Solar) { s.AccPlus, s.ConnectionYear = "LOW_INCOME", 2024 }, ""},
			{"connection year", func(s *storage.Solar) { s.ConnectionYear = 1999 }, ""},
			{"no such segment", func(s *storage.Solar) { s.AccPlus, s.ConnectionYear = "RICH", 2024 }, "accPlus"},
			{"application", func(s *storage.Solar) { s.ApplicationDate = "2023-04-14" }, ""},
			{"no such day", func(s *storage.Solar) { s.ApplicationDate = "2023-04-31" }, "applicationDate"},
			{"adder without a year", func(s *storage.Solar) { s.AccPlus = "GENERAL" }, "connectionYear"},
			{"connected too early", func(s *storage.Solar) { s.ConnectionYear = 1969 }, "connectionYear"},
		},
	))
}

func TestArrayIsAsUsualWhereNothingIsKnown(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings storage.SolarSettings
		want     solar.Array
	}{
		{"nothing", storage.SolarSettings{}, solar.DefaultArray},
		{"tilt", storage.SolarSettings{Tilt: ptr(35.0)}, solar.Array{Tilt: 35, Azimuth: 180, Losses: 14.08}},
		{"all", storage.SolarSettings{Tilt: ptr(35.0), Azimuth: ptr(90.0), Losses: ptr(8.0)}, solar.Array{Tilt: 35, Azimuth: 90, Losses: 8}},
		{"flat, to the north and without losses", storage.SolarSettings{Tilt: ptr(0.0), Azimuth: ptr(0.0), Losses: ptr(0.0)}, solar.Array{Azimuth: 180}},
	} {
		if got := tt.settings.Array(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
