package storage_test

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

func validSchedule() storage.Schedule {
	s := storage.NewSchedule("org")
	s.ID = "sch"
	return s
}

func cron(expression, timezone string) storage.Schedule {
	s := validSchedule()
	s.EveryMinutes, s.Cron, s.Timezone = 0, expression, timezone
	return s
}

func TestSchedule_Check(t *testing.T) {
	type schedule = storage.Schedule
	every := func(n int) func(*schedule) { return func(s *schedule) { s.EveryMinutes = n } }
	by := func(expression string) func(*schedule) {
		return func(s *schedule) { s.EveryMinutes, s.Cron = 0, expression }
	}
	window := func(offset, length int) func(*schedule) {
		return func(s *schedule) { s.Window = storage.ScheduleWindow{OffsetMinutes: offset, LengthMinutes: length} }
	}
	check(t, validSchedule, slices.Concat(
		ids("id", func(s *schedule, id string) { s.ID = id }),
		[]tweak[schedule]{
			{"every minute", every(1), ""},
			{"every day", every(1440), ""},
			{"every moment", every(0), "everyMinutes"},
			{"both", func(s *schedule) { s.Cron = "0 1 * * *" }, "cron"},
			{"by prices", func(s *schedule) { s.EveryMinutes, s.OnPriceChange = 0, true }, ""},
			{"by prices and every quarter hour", func(s *schedule) { s.OnPriceChange = true }, "onPriceChange"},
			{"by prices and cron", func(s *schedule) { by("0 1 * * *")(s); s.OnPriceChange = true }, "onPriceChange"},
			{"no time zone", func(s *schedule) { s.Timezone = "" }, "timezone"},
			{"the machine's time zone", func(s *schedule) { s.Timezone = "Local" }, "timezone"},
			{"an unknown time zone, and a wrong expression", func(s *schedule) { by("x")(s); s.Timezone = "Mars/Base" }, "timezone cron"},
			{"an unknown time zone, and a right expression", func(s *schedule) { by("0 1 * * *")(s); s.Timezone = "Mars/Base" }, "timezone"},

			{"cron", by("*/15 6-20 1,15 JAN-dec mon,0"), ""},
			{"four fields", by("0 1 * *"), "cron"},
			{"six fields", by("0 0 1 * * *"), "cron"},
			{"a macro", by("@daily"), "cron"},
			{"a minute too many", by("60 1 * * *"), "cron"},
			{"an hour too many", by("0 24 * * *"), "cron"},
			{"a month too many", by("0 0 1 13 *"), "cron"},
			{"the last day", by("0 0 L * *"), "cron"},
			{"an eighth day", by("0 0 * * 7"), "cron"},
			{"a range backwards", by("9-3 * * * *"), "cron"},
			{"no step", by("*/0 * * * *"), "cron"},
			{"another name", by("0 0 * * funday"), "cron"},
			{"a day that never comes", by("0 0 30 2 *"), "cron"},
			{"a day that comes in leap years", by("0 0 29 2 *"), ""},
			{"a line break", by("0 0 *\n* *"), "cron"},

			{"the longest window", window(0, 31*1440), ""},
			{"the shortest window", window(0, 15), ""},
			{"the latest window", window(30*1440, 1440), ""},
			{"too late a window", window(30*1440+1, 1440), "window"},
		},
	))
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestSchedule_Next(t *testing.T) {
	every := func(n int) storage.Schedule {
		s := validSchedule()
		s.EveryMinutes = n
		return s
	}
	const newYork = "America/New_York"
	tests := []struct {
		name     string
		schedule storage.Schedule
		after    string
		want     []string
	}{
		{"every quarter hour", every(15), "2026-07-01T12:07:30Z", []string{"2026-07-01T12:15:00Z", "2026-07-01T12:30:00Z"}},
		{"from a run on", every(15), "2026-07-01T12:15:00Z", []string{"2026-07-01T12:30:00Z"}},
		{"just before a run", every(15), "2026-07-01T12:14:59.999Z", []string{"2026-07-01T12:15:00Z"}},
		{"every day", every(1440), "2026-07-01T12:00:00Z", []string{"2026-07-02T00:00:00Z"}},
		{"every seven minutes", every(7), "1970-01-01T00:10:00Z", []string{"1970-01-01T00:14:00Z", "1970-01-01T00:21:00Z"}},
		{
			"a local time", cron("30 13 * * 1-5", newYork), "2026-07-03T18:00:00Z", // a Friday
			[]string{"2026-07-06T17:30:00Z", "2026-07-07T17:30:00Z"},
		},
		{"either day", cron("0 0 13 * 5", "UTC"), "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"}},
		{
			"a time that the clock jumps over", cron("30 2 * * *", newYork), "2026-03-07T08:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"}, // at 3:00, when there is no 2:30
		},
		{
			"several that it jumps over", cron("0,20,40 2-3 * * *", newYork), "2026-03-08T06:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-08T07:20:00Z"},
		},
		{
			"a time that comes twice", cron("30 1 * * *", newYork), "2026-11-01T04:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		},
		{
			"after its first pass", cron("30 1 * * *", newYork), "2026-11-01T06:10:00Z",
			[]string{"2026-11-02T06:30:00Z"},
		},
		{
			"every half hour, twice", cron("*/30 * * * *", newYork), "2026-11-01T04:45:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:00:00Z"},
		},
		{
			"every half hour, over the jump", cron("*/30 */1 * * *", newYork), "2026-03-08T06:15:00Z",
			[]string{"2026-03-08T06:30:00Z", "2026-03-08T07:00:00Z", "2026-03-08T07:30:00Z"},
		},
		{
			"a midnight that there is not", cron("0 0 * * *", "America/Asuncion"), "2023-09-30T12:00:00Z",
			[]string{"2023-10-01T04:00:00Z", "2023-10-02T03:00:00Z"},
		},
		{
			"half an hour put back", cron("45 1 * * *", "Australia/Lord_Howe"), "2026-04-04T00:00:00Z",
			[]string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run := at(t, test.after)
			for _, want := range test.want {
				if run = test.schedule.Next(run); !run.Equal(at(t, want)) {
					t.Fatalf("runs at %s, want %s", run, want)
				}
			}
		})
	}
}

func TestSchedule_Latest(t *testing.T) {
	quarters := validSchedule()
	daily := cron("0 6 * * *", "UTC")
	tests := []struct {
		name           string
		schedule       storage.Schedule
		from, to, want string
	}{
		{"one was missed", quarters, "2026-07-01T12:15:00Z", "2026-07-01T12:29:59Z", "2026-07-01T12:15:00Z"},
		{"many were missed", quarters, "2020-07-01T12:15:00Z", "2026-07-01T12:31:00Z", "2026-07-01T12:30:00Z"},
		{"it is due now", quarters, "2026-07-01T12:15:00Z", "2026-07-01T12:15:00Z", "2026-07-01T12:15:00Z"},
		{"days were missed", daily, "2026-07-01T06:00:00Z", "2026-07-05T05:59:00Z", "2026-07-04T06:00:00Z"},
		{"years were missed", cron("* * * * *", "America/New_York"), "2006-07-01T12:15:00Z", "2026-07-01T12:31:30Z", "2026-07-01T12:31:00Z"},
		{"most of a month was missed", cron("0 0 1 * *", "UTC"), "2026-07-01T00:00:00Z", "2026-07-31T23:59:00Z", "2026-07-01T00:00:00Z"},
		{"none was", daily, "2026-07-01T06:00:01Z", "2026-07-02T05:59:00Z", "0001-01-01T00:00:00Z"},
		{"none can be", quarters, "2026-07-01T12:15:00Z", "2026-07-01T12:14:00Z", "0001-01-01T00:00:00Z"},
	}
	for _, test := range tests {
		if got := test.schedule.Latest(at(t, test.from), at(t, test.to)); !got.Equal(at(t, test.want)) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestSchedule_Window(t *testing.T) {
	s := validSchedule()
	s.Window = storage.ScheduleWindow{OffsetMinutes: 660, LengthMinutes: 100}
	w, err := s.WindowAt(at(t, "2026-07-01T13:07:00Z"))
	if err != nil || !w.Start.Equal(at(t, "2026-07-02T00:00:00Z")) || !w.End.Equal(at(t, "2026-07-02T01:45:00Z")) {
		t.Errorf("the window is %v, %v", w, err)
	}
}

// TestSchedule_NextIsFirst checks every minute before a rule's next run: the rule
// names none of them.
func TestSchedule_NextIsFirst(t *testing.T) {
	zones := []string{"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Asuncion"}
	rapid.Check(t, func(t *rapid.T) {
		minute, hour := rapid.IntRange(0, 59).Draw(t, "minute"), rapid.IntRange(0, 23).Draw(t, "hour")
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		location, _ := storage.Location(zone)
		after := time.Unix(rapid.Int64Range(1_600_000_000, 1_900_000_000).Draw(t, "after"), 0)
		s := storage.Schedule{Timezone: zone}
		wildcard := rapid.Bool().Draw(t, "every hour")
		s.Cron = itoa(minute) + " " + itoa(hour) + " * * *"
		if wildcard {
			s.Cron = itoa(minute) + " * * * *"
		}
		run := s.Next(after)
		if !run.After(after) || run.Sub(after) > 50*time.Hour {
			t.Fatalf("%s in %s after %s runs at %s", s.Cron, zone, after.In(location), run.In(location))
		}
		named := func(m time.Time) bool {
			local := m.In(location)
			if local.Minute() != minute || !wildcard && local.Hour() != hour {
				return false
			}
			return wildcard || !shownBefore(m, location)
		}
		for m := after.Truncate(time.Minute).Add(time.Minute); m.Before(run); m = m.Add(time.Minute) {
			if named(m) {
				t.Fatalf("%s in %s after %s runs at %s and not at %s", s.Cron, zone, after.In(location), run.In(location), m.In(location))
			}
		}
		if start, _ := run.In(location).ZoneBounds(); !named(run) && !run.Equal(start) {
			t.Fatalf("%s in %s after %s runs at %s", s.Cron, zone, after.In(location), run.In(location))
		}
		if again := s.Next(run.Add(-1)); !again.Equal(run) {
			t.Fatalf("just before %s the next run is %s", run, again)
		}
		if latest := s.Latest(after.Add(1), run); !latest.Equal(run) {
			t.Fatalf("the latest run up to %s is %s", run, latest)
		}
	})
}

// shownBefore reports whether the local clock showed the same time earlier.
func shownBefore(m time.Time, location *time.Location) bool {
	const layout = "2006-01-02T15:04"
	for _, back := range []time.Duration{30 * time.Minute, time.Hour} {
		if m.Add(-back).In(location).Format(layout) == m.In(location).Format(layout) {
			return true
		}
	}
	return false
}

func itoa(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

// FuzzCheckCron checks that no expression loops forever or panics.
func FuzzCheckCron(f *testing.F) {
	for _, seed := range []string{"*/15 * * * *", "0 0 31 2 *", "5-1 * * * *", "*/0 1 1 1 1", "2-0 1 1 1 0", "1,2,3-9/2 0 29 2 mon", "0 0 1 jan sun-sat", ",", "- - - - -"} {
		f.Add(seed)
	}
	location, _ := storage.Location("America/New_York")
	f.Fuzz(func(t *testing.T, text string) {
		if storage.CheckCron(text, location) != nil {
			return
		}
		s := cron(text, "America/New_York")
		after := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
		for range 5 {
			next := s.Next(after)
			if !next.After(after) || next.Second() != 0 {
				t.Fatalf("%q after %s runs at %s", text, after, next)
			}
			after = next
		}
	})
}
