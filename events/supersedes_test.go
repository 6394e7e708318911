package events

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

func triggerOf(sequence uint64, from, to time.Duration) Trigger {
	return Trigger{
		Sequence: sequence, Start: storage.Time{Time: accepted.Add(from)}, End: storage.Time{Time: accepted.Add(to)},
	}
}

// A newer trigger supersedes an older one if it covers the rest of its window.
func TestTrigger_Supersedes(t *testing.T) {
	day := 24 * time.Hour
	older := triggerOf(7, -time.Hour, day-time.Hour)
	older.Revision = 100
	at := func(revision, sequence uint64, from, to time.Duration) Trigger {
		t := triggerOf(sequence, from, to)
		t.Revision = revision
		return t
	}
	cases := []struct {
		name  string
		newer Trigger
		want  bool
	}{
		{"the next quarter hour", at(100, 8, 0, day), true},
		{"the same window again", at(100, 8, -time.Hour, day-time.Hour), true},
		{"itself", older, false},
		{"an older trigger", at(100, 6, 0, day), false},
		{"a window that begins after now", at(100, 8, time.Hour, 2*day), false},
		{"a window that ends earlier", at(100, 8, 0, day-2*time.Hour), false},
		{"an older revision", at(99, 8, 0, day), false},
		{"a newer revision", at(101, 8, 0, day), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.newer.Supersedes(&older, accepted); got != c.want {
				t.Errorf("supersedes is %v, want %v", got, c.want)
			}
		})
	}
	some := at(100, 8, 0, day)
	some.RatePlanIDs = []string{"a", "b"}
	if some.Supersedes(&older, accepted) || !some.Covers(&older, accepted) || !some.Selects("b") || some.Selects("c") || !older.Selects("c") {
		t.Error("trigger for some homes supersedes a trigger for all homes")
	}
	past := triggerOf(7, -3*day, -2*day)
	today := triggerOf(8, 0, day)
	if today.Supersedes(&past, accepted) {
		t.Error("signal of today supersedes a signal of the past")
	}
}
