package events

import (
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

func TestNewScheduledTrigger_Fields(t *testing.T) {
	run := time.Date(2026, time.July, 1, 12, 15, 0, 0, time.UTC)
	of := func(org, id string, run time.Time) Trigger {
		s := storage.NewSchedule(org)
		s.ID = id
		w, err := s.WindowAt(run)
		if err != nil {
			t.Fatal(err)
		}
		return NewScheduledTrigger(&s, run, w, run.Add(time.Hour))
	}
	first := of("org", "sch", run)
	if again := of("org", "sch", run.In(time.FixedZone("", 3600))); again.ID != first.ID || again.IdempotencyKey != first.IdempotencyKey {
		t.Errorf("the same run has the identifiers %s and %s", first.ID, again.ID)
	}
	if plain := storage.NewID("trg_", run); len(first.ID) != len(plain) || first.ID[:14] != plain[:14] || !storage.ValidID(first.ID) {
		t.Errorf("%s does not sort like a trigger of its time, such as %s", first.ID, plain)
	}
	if first.ScheduleID != "sch" || !first.CreatedAt.Equal(run.Add(time.Hour)) || !strings.HasPrefix(first.IdempotencyKey, "trg_") {
		t.Errorf("the trigger is %+v", first)
	}
	for _, other := range []Trigger{of("org", "sch", run.Add(time.Minute)), of("org", "sch2", run), of("orgs", "ch", run)} {
		if other.ID == first.ID {
			t.Errorf("%+v has the identifier of %+v", other, first)
		}
	}
}

func TestFirstRun_Times(t *testing.T) {
	s := storage.NewSchedule("org")
	s.ID = "sch"
	s.UpdatedAt = storage.Time{Time: time.Date(2026, time.July, 1, 12, 15, 0, 0, time.UTC)}
	task, ok := FirstRun(&s, 7)
	if want := "schedule.org.sch.7"; !ok || task.String() != want || !task.DueAt.Equal(s.UpdatedAt.Add(15*time.Minute)) {
		t.Errorf("the first run is %+v, %v, want %s, due at the next quarter hour", task, ok, want)
	}
	s.Enabled = false
	if task, ok := FirstRun(&s, 7); ok {
		t.Errorf("a disabled schedule starts with %+v", task)
	}
}
