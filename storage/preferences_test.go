package storage_test

import (
	"slices"
	"testing"

	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// block returns a schedule block on some days between two hours.
func block(from, to int, days ...int) storage.ScheduleBlock {
	return storage.ScheduleBlock{
		StartTimeMinutes: 60 * from, EndTimeMinutes: 60 * to, Mode: savings.Auto, TargetCoolSetpoint: ptr(75.0),
		TargetHeatSetpoint: 68, MaxTemp: 78, MinTemp: 65, DaysOfWeek: days, ScheduleType: "RECURRING",
	}
}

func TestUserPreferences_Check(t *testing.T) {
	type prefs = storage.UserPreferences
	valid := func() prefs {
		u := storage.NewUserPreferences("org", "dev")
		u.Name = "Summer"
		return u
	}
	band := func(low, heat, cool, high float64) func(*prefs) {
		return func(u *prefs) {
			u.DefaultMinTemp, u.DefaultHeatSetpoint, u.DefaultCoolSetpoint, u.DefaultMaxTemp = low, heat, cool, high
		}
	}
	weeks := func(list ...int) func(*prefs) { return func(u *prefs) { u.Weeks = list } }
	check(t, valid, slices.Concat(
		[]tweak[prefs]{
			{"the first and the last week", weeks(0, 51), ""},
			{"units", func(u *prefs) { u.TempUnits = "K" }, "tempUnits"},
			{"mode", func(u *prefs) { u.DefaultMode = "DRY" }, "defaultMode"},
			{"all the same", band(70, 70, 70, 70), ""},
			{"the widest band", band(-49.9, -49.9, 199.9, 199.9), ""},
			{"heat below min", band(69, 68, 75, 78), "defaultHeatSetpoint"},
			{"cool below heat", band(65, 76, 75, 78), "defaultCoolSetpoint"},
			{"max below cool", band(65, 68, 79, 78), "defaultMaxTemp"},
		},
	))
}

func TestScheduleBlocks_Check(t *testing.T) {
	type prefs = storage.UserPreferences
	valid := func() prefs {
		u := storage.NewUserPreferences("org", "dev")
		u.Name = "Summer"
		u.ScheduleBlocks = []storage.ScheduleBlock{block(8, 12, 1, 2)}
		return u
	}
	first := func(change func(*storage.ScheduleBlock)) func(*prefs) {
		return func(u *prefs) { change(&u.ScheduleBlocks[0]) }
	}
	minutes := func(from, to int) func(*prefs) {
		return first(func(b *storage.ScheduleBlock) { b.StartTimeMinutes, b.EndTimeMinutes = from, to })
	}
	add := func(b storage.ScheduleBlock) func(*prefs) {
		return func(u *prefs) { u.ScheduleBlocks = append(u.ScheduleBlocks, b) }
	}
	const at = "scheduleBlocks[0]."
	check(t, valid, []tweak[prefs]{
		{"the whole day", minutes(0, 1440), ""},
		{"the last minute", minutes(1439, 1440), ""},
		{"nothing of the day", minutes(60, 60), at + "endTimeMinutes"},
		{"backwards", minutes(120, 60), at + "endTimeMinutes"},
		{"Sunday and Saturday", first(func(b *storage.ScheduleBlock) { b.DaysOfWeek = []int{0, 6} }), ""},
		{"no cooling setpoint", first(func(b *storage.ScheduleBlock) { b.TargetCoolSetpoint = nil }), ""},
		{"a cooling setpoint below heating", first(func(b *storage.ScheduleBlock) { b.TargetCoolSetpoint = ptr(67.0) }), at + "targetCoolSetpoint"},

		{"the hours after it", add(block(12, 13, 1, 2)), ""},
		{"the hours before it", add(block(7, 8, 1, 2)), ""},
		{"the same hours on other days", add(block(8, 12, 0, 3)), ""},
		{"the same hours", add(block(8, 12, 2)), "scheduleBlocks[1]"},
		{"hours around it", add(block(7, 13, 1)), "scheduleBlocks[1]"},
		{"hours within it", add(block(9, 10, 1)), "scheduleBlocks[1]"},
		{"its last hour", add(block(11, 13, 1)), "scheduleBlocks[1]"},
	})
}

// Each block has one error, however many blocks it overlaps. Otherwise a line of an import
// with thousands of equal blocks would take a processor for long.
func TestScheduleBlocks_ManyOverlaps(t *testing.T) {
	const blocks, most = 500, 20
	u := storage.NewUserPreferences("org", "dev")
	u.Name, u.ScheduleBlocks = "Summer", slices.Repeat([]storage.ScheduleBlock{block(8, 12, 1)}, blocks)
	if n := testing.AllocsPerRun(1, func() { _ = storage.Validate(&u) }); n > most*blocks {
		t.Errorf("the check of %d blocks makes %v allocations, want at most %d for each", blocks, n, most)
	}
}
