package events

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// NewScheduledTrigger returns the trigger of a schedule's run. Its identifier is a
// function of the schedule and the run, and also its idempotency key. So only one trigger
// is accepted for a run, even if it is repeated.
func NewScheduledTrigger(s *storage.Schedule, run time.Time, w pricing.Window, now time.Time) Trigger {
	t := NewTrigger(s.OrganizationID, w, now)
	t.ID = derivedID("trg_", run, s.OrganizationID, s.ID, run.UTC().Format(time.RFC3339))
	t.IdempotencyKey, t.ScheduleID = t.ID, s.ID
	return t
}

// FirstRun returns the task that begins a revision's chain: the first run after the
// schedule's last update. ok is false if the schedule has no next run.
func FirstRun(s *storage.Schedule, revision uint64) (t Task, ok bool) {
	due := s.Next(s.UpdatedAt.Time)
	if !s.Enabled || due.IsZero() {
		return Task{}, false
	}
	return TaskOf(s.Ref(), revision, due), true
}
