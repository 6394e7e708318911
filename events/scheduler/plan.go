package scheduler

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

const (
	// clockTolerance is how much the clocks of two processes may differ.
	clockTolerance = 10 * time.Minute
	// maxDueChecks is the number of pending runs whose due times one search reads. Each
	// takes a request to NATS.
	maxDueChecks = 100
)

// plan stores the first run of every schedule without a pending run, for example after a
// crash between storing a schedule and its run. It corrects the pending runs. It drops the
// runs of old revisions at the second check, because runs due before the change must still
// be made.
func (s *Scheduler) plan(ctx context.Context) error {
	waiting, err := s.Tasks.Tasks(ctx, events.TaskSchedule)
	if err != nil {
		return err
	}
	found, err := s.compare(waiting)
	if err != nil {
		return err
	}
	for _, task := range found.missing {
		if err := s.Tasks.PutNewTask(ctx, task); err != nil {
			return err
		}
	}
	if err := s.correct(ctx, found.pending); err != nil {
		return err
	}
	seen := s.stale
	s.stale = map[events.TaskName]bool{}
	for _, name := range found.stale {
		if !seen[name] { // the run may be about to be due
			s.stale[name] = true
			continue
		}
		if err := s.Tasks.DropTask(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// correct replaces pending runs that are due after the schedule's next run. A process whose
// clock was ahead has stored them, and the schedule would not run until then.
func (s *Scheduler) correct(ctx context.Context, pending map[events.TaskName]events.Task) error {
	checked := 0
	for name, next := range pending { // in random order, so that each has its turn
		if checked++; checked > maxDueChecks {
			break
		}
		due, err := s.Tasks.TaskDue(ctx, name)
		if err == nil && due.After(next.DueAt.Add(clockTolerance)) {
			s.Log.Warn("schedule run due too late, replaced", "schedule", next.ID, "org", next.OrganizationID, "due", due, "next", next.DueAt.Time)
			err = s.Tasks.PutTask(ctx, next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// comparison is the difference between the schedules and their tasks.
type comparison struct {
	missing []events.Task
	// pending has the next run of each schedule with a task.
	pending map[events.TaskName]events.Task
	// stale are the tasks of older revisions than the replica's.
	stale []events.TaskName
}

// compare compares the schedules with their tasks. It ignores tasks of newer revisions.
func (s *Scheduler) compare(waiting map[events.TaskName]bool) (found comparison, err error) {
	found.pending = map[events.TaskName]events.Task{}
	now := s.Now()
	err = s.Store.View(func(v storage.View) error {
		for name := range waiting {
			r, err := v.Get(storage.KindSchedule.Ref(name.OrganizationID, name.ID))
			if err == nil && r.Revision > name.Revision {
				found.stale = append(found.stale, name)
			}
		}
		damaged := func(err error) { s.Log.Error("schedule record invalid, the schedule does not run", "error", err) }
		return storage.Each(v, storage.KindSchedule, damaged, func(schedule *storage.Schedule, r storage.Record) error {
			task, ok := events.FirstRun(schedule, r.Revision)
			if !ok {
				return nil
			}
			if name := task.Name(); !waiting[name] {
				found.missing = append(found.missing, task)
			} else if next := schedule.Next(now); !next.IsZero() {
				found.pending[name] = events.ScheduleTask(schedule, r.Revision, next)
			}
			return nil
		})
	})
	return found, err
}
