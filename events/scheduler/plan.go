package scheduler

import (
	"context"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// plan stores the first run of every schedule without a pending run, for example after a
// crash between storing a schedule and its run. It drops the runs of old revisions. It
// drops them at the second check, because runs due before the change must still be made.
func (s *Scheduler) plan(ctx context.Context) error {
	waiting, err := s.Tasks.Tasks(ctx, events.TaskSchedule)
	if err != nil {
		return err
	}
	missing, stale, err := s.compare(waiting)
	if err != nil {
		return err
	}
	for _, task := range missing {
		if err := s.Tasks.PutNewTask(ctx, task); err != nil {
			return err
		}
	}
	seen := s.stale
	s.stale = map[events.TaskName]bool{}
	for _, name := range stale {
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

// compare finds the missing tasks, and the tasks of older revisions than the replica's.
// It ignores tasks of newer revisions.
func (s *Scheduler) compare(waiting map[events.TaskName]bool) (missing []events.Task, stale []events.TaskName, err error) {
	err = s.Store.View(func(v storage.View) error {
		for name := range waiting {
			r, err := v.Get(storage.KindSchedule.Ref(name.OrganizationID, name.ID))
			if err == nil && r.Revision > name.Revision {
				stale = append(stale, name)
			}
		}
		damaged := func(err error) { s.Log.Error("schedule record invalid, the schedule does not run", "error", err) }
		return storage.Each(v, storage.KindSchedule, damaged, func(schedule *storage.Schedule, r storage.Record) error {
			if task, ok := events.FirstRun(schedule, r.Revision); ok && !waiting[task.Name()] {
				missing = append(missing, task)
			}
			return nil
		})
	})
	return missing, stale, err
}
