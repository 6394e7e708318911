package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// regularly does something again and again until ctx ends.
func (s *Scheduler) regularly(ctx context.Context, every time.Duration, what string, do func(context.Context) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("it could not be seen "+what, "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// plan has the first run wait of every schedule that has none waiting, as after a
// crash of who stored the schedule, and drops the runs of rules that are no more: at
// the second look, for what was due before the rule was changed is still made.
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
		if !seen[name] { // it may be about to be due
			s.stale[name] = true
			continue
		}
		if err := s.Tasks.DropTask(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// compare finds the tasks that are missing, and those that belong to an older
// revision than the replica's. A task of a newer one is none of its business.
func (s *Scheduler) compare(waiting map[events.TaskName]bool) (missing []events.Task, stale []events.TaskName, err error) {
	err = s.Store.View(func(v storage.View) error {
		for name := range waiting {
			r, err := v.Get(storage.ScheduleRef(name.OrganizationID, name.ID))
			if err == nil && r.Revision > name.Revision {
				stale = append(stale, name)
			}
		}
		return storage.EachOrganization(v, func(org string) error {
			var failed error
			err := v.Scan(storage.KindSchedule, org, "", func(r storage.Record) bool {
				if r.Deleted {
					return true
				}
				var schedule storage.Schedule
				if schedule, failed = storage.Decode[storage.Schedule](r); failed != nil {
					return false
				}
				if task, ok := events.FirstRun(&schedule, r.Revision); ok && !waiting[task.Name()] {
					missing = append(missing, task)
				}
				return true
			})
			return errors.Join(err, failed)
		})
	})
	return missing, stale, err
}
