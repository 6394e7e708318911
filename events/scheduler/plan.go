package scheduler

import (
	"context"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// maxDueChecks is the number of pending runs whose due times one search reads. Each takes
// a request to NATS.
const maxDueChecks = 100

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

// correct replaces pending runs that are due after the schedule's next run. The schedule
// would not run until then. The clock of this process does not matter, because it may be
// wrong too.
func (s *Scheduler) correct(ctx context.Context, pending map[events.TaskName]*storage.Schedule) error {
	now, err := s.Tasks.Clock(ctx)
	if err != nil {
		return err
	}
	checked := 0
	for name, schedule := range pending { // in random order, so that each has its turn
		if checked++; checked > maxDueChecks {
			break
		}
		latest := schedule.Next(now.Add(events.ClockTolerance))
		if latest.IsZero() {
			continue
		}
		next := events.ScheduleTask(schedule, name.Revision, schedule.Next(now))
		if err := events.ReplaceLate(ctx, s.Tasks, s.Log, next, latest); err != nil {
			return err
		}
	}
	return nil
}

// comparison is the difference between the schedules and their tasks.
type comparison struct {
	missing []events.Task
	// pending has the schedules with a task.
	pending map[events.TaskName]*storage.Schedule
	// stale are the tasks of older revisions than the replica's.
	stale []events.TaskName
}

// compare compares the schedules with their tasks. It ignores tasks of newer revisions.
func (s *Scheduler) compare(waiting map[events.TaskName]bool) (found comparison, err error) {
	found.pending = map[events.TaskName]*storage.Schedule{}
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
			} else {
				found.pending[name] = schedule
			}
			return nil
		})
	})
	return found, err
}
