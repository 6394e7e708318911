package storage_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// measured is a month with the same power in every hour.
func measured(month string, watts int, missing float64) storage.MeasuredMonth {
	start, _ := time.Parse("2006-01", month)
	hours := start.AddDate(0, 1, 0).Sub(start).Hours() - missing
	return storage.MeasuredMonth{Month: month, KWh: hours * float64(watts) / 1000, MissingHours: missing, Watts: slices.Repeat([]int{watts}, 24)}
}

func TestMeasuredLoad_Check(t *testing.T) {
	valid := func() storage.MeasuredLoad {
		return storage.MeasuredLoad{HomeID: "h", Months: []storage.MeasuredMonth{measured("2026-07", 500, 0)}}
	}
	check(t, valid, []tweak[storage.MeasuredLoad]{
		{"another month", func(m *storage.MeasuredLoad) { m.Months = append(m.Months, measured("2026-06", 1, 0)) }, ""},
		{"a month twice", func(m *storage.MeasuredLoad) { m.Months = append(m.Months, m.Months[0]) }, "months[1].month"},
	})
}

// A later month replaces the stored one, unless it lacks more hours. The newest 13 remain.
func TestMeasuredLoad_Merge(t *testing.T) {
	var stored storage.MeasuredLoad
	for month := range 12 {
		stored.Months = append(stored.Months, measured(fmt.Sprintf("2025-%02d", month+1), 100, float64(month)))
	}
	later := storage.MeasuredLoad{Months: []storage.MeasuredMonth{
		measured("2026-02", 200, 300), measured("2025-12", 200, 11), measured("2025-11", 200, 100), measured("2026-01", 200, 0),
	}}
	later.Merge(&stored)
	got := ""
	for _, m := range later.Months {
		got += fmt.Sprint(m.Month, ":", m.Watts[0], " ")
	}
	want := "2025-02:100 2025-03:100 2025-04:100 2025-05:100 2025-06:100 2025-07:100 2025-08:100 2025-09:100 2025-10:100 2025-11:100 2025-12:200 2026-01:200 2026-02:200 "
	if got != want {
		t.Errorf("it has %swant %s", got, want)
	}
	again := storage.MeasuredLoad{Months: slices.Clone(later.Months)}
	again.Merge(&later)
	if fmt.Sprint(again) != fmt.Sprint(later) {
		t.Errorf("the same months make %v of %v", again, later)
	}
}

func TestMeasuredLoad_Typical(t *testing.T) {
	sent := 62.0
	july := measured("2026-07", 500, 72)
	july.ExportKWh = &sent
	m := storage.MeasuredLoad{Months: []storage.MeasuredMonth{
		measured("2025-08", 400, 264), measured("2026-02", 300, 73), july, measured("2026-08", 800, 480),
	}}
	load := m.Typical()
	if load[6] == nil || !load[6].Exports || load[6].NetKW[5] != 0.5 || load[6].Drawn != 12 || math.Abs(load[6].Sent-62.0/28) > 1e-9 {
		t.Errorf("July is %+v", load[6])
	}
	// The ends of August 2025 and the start of August 2026 make a whole month.
	if want := (0.4*480 + 0.8*264) / 744; load[7] == nil || load[7].Exports || math.Abs(load[7].NetKW[0]-want) > 1e-9 || math.Abs(load[7].Drawn-24*want) > 1e-9 {
		t.Errorf("August is %+v, want %v kW", load[7], want)
	}
	if load[1] != nil {
		t.Errorf("February lacks 73 hours and is %+v", load[1])
	}
	if load := (&storage.MeasuredLoad{Months: m.Months[1:2]}).Typical(); load != nil {
		t.Errorf("no month is measured: %v", load)
	}
}
