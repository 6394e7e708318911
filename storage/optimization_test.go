package storage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestHVACDevice_NoteRun(t *testing.T) {
	at := storage.Time{Time: storagetest.Start}
	device := storage.NewHVACDevice("acme")
	device.UpdatedAt = storage.Time{Time: storagetest.Start.Add(-time.Hour)}
	result := &savings.DeviceResult{DeviceID: "d", Figures: savings.Figures{BaselineCost: 3, OptimizedCost: 2, Savings: 1}}
	if err := device.NoteRun(savings.Monthly, result, at); err != nil || device.LastOptimizationRunData != nil || device.LastSetPointSchedule != nil {
		t.Errorf("a run without a day left %s and %s (%v)", device.LastOptimizationRunData, device.LastSetPointSchedule, err)
	}
	result.Day = &savings.Day{
		DeviceID: "d", Date: pricing.Date{Year: 2026, Month: 7, Day: 2}, Start: storagetest.Start, Units: savings.Fahrenheit,
		Price: []float64{0.1, 0.4, 0.4}, Outdoor: []float64{80, 81, 81}, Least: []float64{65, 65, 65}, Greatest: []float64{78, 78, 78},
		Baseline:  savings.Trace{Temperature: []float64{75, 75, 75}, Kw: []float64{1, 1.23456, 1}, Cost: 0.5},
		Optimized: savings.Trace{Temperature: []float64{74.1, 76.987654, 77.2}, Kw: []float64{2, 0, 0}, Cost: 0.2},
	}
	if err := device.NoteRun(savings.Monthly, result, at); err != nil {
		t.Fatal(err)
	}
	if !device.ThermodynamicValuesUpdatedAt.Equal(device.UpdatedAt.Time) {
		t.Errorf("the time of the values is %s", device.ThermodynamicValuesUpdatedAt)
	}
	var run storage.OptimizationRun
	if err := json.Unmarshal(device.LastOptimizationRunData, &run); err != nil {
		t.Fatal(err)
	}
	if !run.RunAt.Equal(at.Time) || run.Type != savings.Monthly || run.Savings != 1 || run.Day.Optimized.Temperature[1] != 76.99 {
		t.Errorf("the stored run is %s", device.LastOptimizationRunData)
	}
	if kept, whole := run.Day.Drawable(); !whole || kept.String() != result.Day.String() {
		t.Errorf("the stored day is drawn as\n%s\nand the result as\n%s", kept, result.Day)
	}
	run.Day.Outdoor = run.Day.Outdoor[1:]
	if _, whole := run.Day.Drawable(); whole {
		t.Error("a series that is too short was drawn as a day")
	}
	const want = `{"date":"2026-07-02","tempUnits":"F","setpoints":[` +
		`{"startTime":"2026-07-01T12:00:00.000Z","endTime":"2026-07-01T12:15:00.000Z","temperature":74},` +
		`{"startTime":"2026-07-01T12:15:00.000Z","endTime":"2026-07-01T12:45:00.000Z","temperature":77}]}`
	if string(device.LastSetPointSchedule) != want {
		t.Errorf("the schedule is %s\nwant %s", device.LastSetPointSchedule, want)
	}
}

func TestHVACDevice_Keep(t *testing.T) {
	then, now := storage.Time{Time: storagetest.Start}, storage.Time{Time: storagetest.Start.Add(time.Hour)}
	stored := storage.HVACDevice{CoolingRate: 5, ThermodynamicValuesUpdatedAt: then, LastSetPointSchedule: []byte(`{"a":1}`), LastOptimizationRunData: []byte(`{"b":1}`)}
	for name, test := range map[string]struct {
		device   storage.HVACDevice
		stored   *storage.HVACDevice
		at       storage.Time
		schedule string
	}{
		"the same":             {storage.HVACDevice{CoolingRate: 5}, &stored, then, `{"a":1}`},
		"other values":         {storage.HVACDevice{CoolingRate: 6}, &stored, now, `{"a":1}`},
		"a time of its own":    {storage.HVACDevice{CoolingRate: 6, ThermodynamicValuesUpdatedAt: then}, &stored, then, `{"a":1}`},
		"no values":            {storage.HVACDevice{}, &stored, storage.Time{}, `{"a":1}`},
		"an explicit null":     {storage.HVACDevice{CoolingRate: 5, LastSetPointSchedule: []byte(`null`)}, &stored, then, `null`},
		"a device that is new": {storage.HVACDevice{CoolingRate: 5}, &storage.HVACDevice{}, now, ``},
	} {
		t.Run(name, func(t *testing.T) {
			d := test.device
			d.Keep(test.stored, now)
			if !d.ThermodynamicValuesUpdatedAt.Equal(test.at.Time) || string(d.LastSetPointSchedule) != test.schedule {
				t.Errorf("the schedule is %s, the time of the values %s", d.LastSetPointSchedule, d.ThermodynamicValuesUpdatedAt)
			}
		})
	}
}
