package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// Limits of a scheduler.
const (
	// slots is the number of simultaneous runs of a process. Each run is a handful of
	// durable writes.
	slots = 4
	// planEvery is the interval between searches for schedules without a pending run. The
	// writer of a schedule stores its first run at once.
	planEvery = 30 * time.Second
)

// Runs reads the triggers of schedules that run when prices change.
type Runs interface {
	// LastOf returns the last trigger of such a schedule, zero if there is none. Errors:
	// storage.ErrUnavailable.
	LastOf(ctx context.Context, org, scheduleID string) (events.Trigger, error)
}

// Deps are the dependencies of a scheduler.
type Deps struct {
	Store      *storage.Store
	Pricer     *signals.Pricer
	Tasks      events.Tasks
	Triggers   events.TriggerLog
	Runs       Runs
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
	// State is the log of record, which the scheduler follows for changes of OpenADR
	// objects. It is nil if the OpenADR interface is off.
	State storage.Log
	// EveryChange makes a trigger of each change of an OpenADR object, because there may
	// be subscribers by MQTT. Otherwise a change needs a subscription.
	EveryChange bool
	// ReportRetention is the retention of the reports of OpenADR clients.
	ReportRetention time.Duration
}

// Scheduler runs schedules. Any number of schedulers may run: a run is a task of one
// scheduler, and its trigger is accepted once, even if it is repeated. The scheduler
// stores the next run on disk before it makes a run. So a run that is due during an
// outage is made afterwards. If several runs were missed, only the latest is made.
type Scheduler struct {
	Deps
	runs, skipped prometheus.Counter
	planner       events.Planner
	// prices is the observed state of the schedules that run when prices change, at
	// revision.
	prices   map[storage.Ref]*priceWatch
	revision uint64
}

// New returns a scheduler. Run starts it.
func New(d Deps) *Scheduler {
	counter := func(name, help string) prometheus.Counter {
		return promauto.With(d.Registerer).NewCounter(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	return &Scheduler{
		Deps: d, prices: map[storage.Ref]*priceWatch{},
		planner: events.Planner{Tasks: d.Tasks, Store: d.Store, Log: d.Log, Kind: events.TaskSchedule},
		runs:    counter("schedule_runs_total", "Schedule runs accepted by this process."),
		skipped: counter("schedule_runs_skipped_total", "Runs of schedules that this process skipped, because the organization had reached a limit."),
	}
}

// Run makes the scheduled runs until ctx ends.
func (s *Scheduler) Run(ctx context.Context) error {
	finish := context.WithoutCancel(ctx) // a started run may finish, because it is short
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Tasks.ConsumeTasks(finish, ctx, events.TaskSchedule, slots, s.handle) })
	repeat := func(every time.Duration, task string, do func(context.Context) error) {
		group.Go(func() error { return periodic.Run(ctx, every, s.Log, task, do) })
	}
	repeat(planEvery, "store the next run of every schedule", s.plan)
	repeat(pricesEvery, "detect changed prices", s.checkPrices)
	// The client of a relay endpoint may be killed before it can delete the endpoint.
	repeat(unusedEvery, "delete unused relay endpoints", s.deleteFound(storage.UnusedRelays))
	repeat(unusedEvery, "delete ended keys", s.deleteFound(storage.EndedKeys))
	if s.State != nil {
		c := s.newChanges()
		repeat(retryDelay, "notify of changed OpenADR objects", c.follow)
		repeat(pricesEvery, "detect changed OpenADR programs and events", c.checkDerived)
		repeat(expireEvery, "delete expired OpenADR reports", s.deleteFound(s.expiredReports))
	}
	return group.Wait()
}

// plan stores the first run of every schedule without a pending run. It corrects runs that are
// due after the schedule's next run: the schedule would not run until then.
func (s *Scheduler) plan(ctx context.Context) error {
	damaged := func(err error) { s.Log.Error("schedule record invalid, the schedule does not run", "error", err) }
	return s.planner.Search(ctx, func(search *events.PlannerSearch) error {
		return storage.Each(search, storage.KindSchedule, damaged, func(schedule *storage.Schedule, r storage.Record) error {
			first, ok := events.FirstRun(schedule, r.Revision)
			if !ok || !search.Need(first) {
				return nil
			}
			if latest := schedule.Next(search.Clock.Add(events.ClockTolerance)); !latest.IsZero() {
				search.Correct(events.TaskOf(schedule.Ref(), r.Revision, schedule.Next(search.Clock)), latest)
			}
			return nil
		})
	})
}

// runWait is the timeout of one run.
const runWait = 30 * time.Second

// handle makes a due run.
func (s *Scheduler) handle(ctx context.Context, task events.Task, _ events.Taken) error {
	ctx, cancel := context.WithTimeout(ctx, runWait)
	defer cancel()
	// Earlier changes and deletions must count.
	if err := s.Store.CatchUp(ctx); err != nil {
		return err
	}
	schedule, revision, err := storage.GetRevision[storage.Schedule](s.Store, storage.KindSchedule.Ref(task.OrganizationID, task.ID))
	switch {
	case storage.NoRecord(err):
		return nil // the schedule was deleted, or does not run: see plan
	case err != nil:
		return err
	}
	changed := revision != task.Revision
	if !schedule.Enabled || changed && task.DueAt.After(schedule.UpdatedAt.Time) {
		return nil // the runs after a change belong to the new revision
	}
	now, run := s.Now(), task.DueAt.Time
	if !changed {
		if missed := schedule.Latest(run, now); !missed.IsZero() {
			run = missed
		}
		if next := schedule.Next(run); !next.IsZero() {
			if err := s.Tasks.PutTask(ctx, events.TaskOf(schedule.Ref(), revision, next)); err != nil {
				return err
			}
		}
	}
	return s.trigger(ctx, &schedule, run, storage.Later(now, run))
}

// trigger accepts the trigger of a run, unless it exists.
func (s *Scheduler) trigger(ctx context.Context, schedule *storage.Schedule, run, now time.Time) error {
	window, ok := s.window(schedule, now)
	if !ok {
		return nil
	}
	t := events.NewScheduledTrigger(schedule, run, window, now)
	active := false
	err := s.Store.View(func(v storage.View) (err error) {
		if active, err = storage.IsActive(v, t.OrganizationID); err != nil {
			return err
		}
		return t.StartFrom(v, v.Count(storage.KindHome, t.OrganizationID))
	})
	if err != nil || !active {
		return err
	}
	if _, err := s.accept(ctx, &t); err != nil {
		return fmt.Errorf("run %s of the schedule %s: %w", run.Format(time.RFC3339), schedule.ID, err)
	}
	return nil
}

// accept accepts the trigger of a run. If the organization has reached a limit, accept
// skips the run. A later run sends newer signals.
func (s *Scheduler) accept(ctx context.Context, t *events.Trigger) (skipped bool, err error) {
	_, err = s.Triggers.Accept(ctx, *t)
	over, skip := errors.AsType[*events.QuotaError](err)
	switch {
	case skip:
		s.skipped.Inc()
		s.Log.Warn("schedule run skipped, organization has reached a limit",
			"schedule", t.ScheduleID, "org", t.OrganizationID, "limit", over.Setting, "used", over.Used, "max", over.Max)
		return true, nil
	case err == nil:
		s.runs.Inc()
		s.Log.Info("schedule run accepted",
			"schedule", t.ScheduleID, "org", t.OrganizationID, "trigger", t.ID, "homes", t.Homes, "plans", t.RatePlanIDs)
	}
	return false, err
}

// window returns the window of the signals of a run.
func (s *Scheduler) window(schedule *storage.Schedule, now time.Time) (w pricing.Window, ok bool) {
	w, err := schedule.WindowAt(now)
	if err != nil { // the window was valid when the schedule was stored
		s.Log.Error("schedule run skipped: its window is not valid", "schedule", schedule.ID, "org", schedule.OrganizationID, "error", err)
	}
	return w, err == nil
}
