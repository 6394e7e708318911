package events

import (
	"crypto/sha256"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// NewScheduledTrigger makes the trigger of a schedule's run. Its identifier is a
// function of the schedule and the run, and its OnceKey says so: however often a
// run is made, one trigger is accepted.
func NewScheduledTrigger(s *storage.Schedule, run time.Time, w pricing.Window, now time.Time) Trigger {
	t := NewTrigger(s.OrganizationID, w, now)
	sum := sha256.Sum256([]byte(s.OrganizationID + "\x00" + s.ID + "\x00" + run.UTC().Format(time.RFC3339)))
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(run)) // it fails in the year 10889
	_ = id.SetEntropy(sum[:10])         // it has the right length
	t.ID = "trg_" + id.String()
	t.OnceKey, t.ScheduleID = t.ID, s.ID
	return t
}

// ScheduleTask is a run of a schedule that is due at a time. Each revision of a
// schedule has a chain of runs of its own, so that a change takes effect with the
// next run, and whoever still holds a run of the rule before cannot undo it.
func ScheduleTask(s *storage.Schedule, revision uint64, due time.Time) Task {
	return Task{
		Kind: TaskSchedule, OrganizationID: s.OrganizationID, ID: s.ID, Revision: revision, DueAt: storage.Time{Time: due.UTC()},
	}
}

// FirstRun is the task that begins a revision's chain: the first run after the
// schedule was changed. ok is false where nothing is to run.
func FirstRun(s *storage.Schedule, revision uint64) (t Task, ok bool) {
	due := s.Next(s.UpdatedAt.Time)
	if !s.Enabled || due.IsZero() {
		return Task{}, false
	}
	return ScheduleTask(s, revision, due), true
}
