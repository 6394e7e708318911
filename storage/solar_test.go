package storage_test

import (
	"slices"
	"testing"

	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

func TestSolarSettings_Check(t *testing.T) {
	valid := func() storage.Solar { return storage.Solar{HomeID: "h", SizeKw: 5} }
	check(t, valid, slices.Concat(
		[]tweak[storage.Solar]{
			{"export values", func(s *storage.Solar) { s.ExportValues = "PG&E NBT24" }, ""},
			{"no such export values", func(s *storage.Solar) { s.ExportValues = "PG&E NBT99" }, "exportValues"},
			{"adder", func(s *storage.Solar) { s.AccPlus, s.ConnectionYear = "LOW_INCOME", 2024 }, ""},
			{"connection year", func(s *storage.Solar) { s.ConnectionYear = 1999 }, ""},
			{"application", func(s *storage.Solar) { s.ApplicationDate = "2023-04-14" }, ""},
			{"adder without a year", func(s *storage.Solar) { s.AccPlus = "GENERAL" }, "connectionYear"},
		},
	))
}

func TestSolarSettings_DefaultArray(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings storage.SolarSettings
		want     solar.Array
	}{
		{"nothing", storage.SolarSettings{}, solar.DefaultArray},
		{"tilt", storage.SolarSettings{Tilt: ptr(35.0)}, solar.Array{Tilt: 35, Azimuth: 180, Losses: 14.08}},
		{"all", storage.SolarSettings{Tilt: ptr(35.0), Azimuth: ptr(90.0), Losses: ptr(8.0)}, solar.Array{Tilt: 35, Azimuth: 90, Losses: 8}},
		{"flat, to the north and without losses", storage.SolarSettings{Tilt: ptr(0.0), Azimuth: ptr(0.0), Losses: ptr(0.0)}, solar.Array{}},
	} {
		if got := tt.settings.Array(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
