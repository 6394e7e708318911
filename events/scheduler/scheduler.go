package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// The work of a scheduler.
const (
	// slots is how many runs a process makes at once; each is a handful
	// of durable writes.
	slots = 4
	// planEvery is how often it is looked whether every schedule has its next
	// run waiting. Those who change a schedule see to it at once.
	planEvery = 30 * time.Second
)

// Runs is the log of triggers as the schedules that run when prices change read it.
type Runs interface {
	// LastOf is the last trigger of such a schedule, zero when there was none. Errors:
	// storage.ErrUnavailable.
	LastOf(ctx context.Context, org, scheduleID string) (events.Trigger, error)
}

// Deps are what a scheduler works with.
type Deps struct {
	Store      *storage.Store
	Book       *signals.Book
	Tasks      events.Tasks
	Triggers   events.TriggerLog
	Runs       Runs
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
}

// Scheduler makes the runs of schedules. Any number of schedulers may run: a run
// is a task that one of them takes, and its trigger is accepted once, whoever asks
// for it and however often. The next run waits on disk before a run is made, so
// one that is due while nobody is there is made when somebody is; of several, the
// latest.
type Scheduler struct {
	Deps
	runs prometheus.Counter
	// stale are the tasks of rules that were found to be no more, at the last look.
	stale map[events.TaskName]bool
	// prices is what was seen of the schedules that run when prices change, at the state
	// of a revision.
	prices   map[storage.Ref]*priceWatch
	revision uint64
}

// New makes a scheduler. Run starts it.
func New(d Deps) *Scheduler {
	runs := prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "gridhook", Name: "schedule_runs_total", Help: "Runs of schedules that this process made.",
	})
	d.Registerer.MustRegister(runs)
	return &Scheduler{Deps: d, runs: runs, prices: map[storage.Ref]*priceWatch{}}
}

// Run makes runs until ctx ends.
func (s *Scheduler) Run(ctx context.Context) error {
	finish := context.WithoutCancel(ctx) // what was taken is done, for it is short
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Tasks.ConsumeTasks(finish, ctx, events.TaskSchedule, slots, s.handle) })
	group.Go(func() error {
		return s.regularly(ctx, planEvery, "whether every schedule has its next run waiting", s.plan)
	})
	group.Go(func() error { return s.regularly(ctx, pricesEvery, "whether prices have changed", s.lookAtPrices) })
	return group.Wait()
}

// runWait bounds the making of one run.
const runWait = 30 * time.Second

// handle makes a run that is due.
func (s *Scheduler) handle(ctx context.Context, task events.Task, _ events.Taken) error {
	ctx, cancel := context.WithTimeout(ctx, runWait)
	defer cancel()
	// What was changed or deleted before must count.
	if err := s.Store.CatchUp(ctx); err != nil {
		return err
	}
	schedule, revision, err := s.read(task)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil // it was deleted
	case err != nil:
		return err
	}
	changed := revision != task.Revision
	if !schedule.Enabled || changed && task.DueAt.After(schedule.UpdatedAt.Time) {
		return nil // the runs after a change are those of the new rule
	}
	now, run := s.Now(), task.DueAt.Time
	if !changed {
		if missed := schedule.Latest(run, now); !missed.IsZero() {
			run = missed
		}
		if next := schedule.Next(run); !next.IsZero() {
			if err := s.Tasks.PutTask(ctx, events.ScheduleTask(&schedule, revision, next)); err != nil {
				return err
			}
		}
	}
	return s.trigger(ctx, &schedule, run, latest(now, run))
}

// read is the schedule that a task is a run of, and its revision.
func (s *Scheduler) read(task events.Task) (schedule storage.Schedule, revision uint64, err error) {
	err = s.Store.View(func(v storage.View) error {
		schedule, revision, err = storage.Read[storage.Schedule](v, storage.ScheduleRef(task.OrganizationID, task.ID))
		return err
	})
	return schedule, revision, err
}

// trigger accepts the trigger of a run, unless there is one.
func (s *Scheduler) trigger(ctx context.Context, schedule *storage.Schedule, run, now time.Time) error {
	window, ok := s.window(schedule, now)
	if !ok {
		return nil
	}
	t := events.NewScheduledTrigger(schedule, run, window, now)
	err := s.Store.View(func(v storage.View) error {
		t.Homes, t.Revision = v.Count(storage.KindHome, t.OrganizationID), v.Revision()
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := s.Triggers.Accept(ctx, t); err != nil {
		return fmt.Errorf("run %s of the schedule %s: %w", run.Format(time.RFC3339), schedule.ID, err)
	}
	s.runs.Inc()
	s.Log.Info("a schedule has run", "schedule", schedule.ID, "org", schedule.OrganizationID, "trigger", t.ID, "run", run, "homes", t.Homes)
	return nil
}

// window is what the signals of a run cover.
func (s *Scheduler) window(schedule *storage.Schedule, now time.Time) (w pricing.Window, ok bool) {
	w, err := schedule.WindowAt(now)
	if err != nil { // it was valid when it was stored
		s.Log.Error("a run of a schedule has no valid window and is left out", "schedule", schedule.ID, "org", schedule.OrganizationID, "error", err)
	}
	return w, err == nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
