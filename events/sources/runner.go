package sources

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/events/turns"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

const (
	// slots is the number of simultaneous fetches of a process. share is the largest number
	// for one organization, so that servers that hang delay nobody else's prices.
	slots = 8
	share = slots / 2
	// shareDelay is the delay of a run beyond share.
	shareDelay = 2 * time.Second
	// planEvery is the interval between searches for sources without a pending run.
	planEvery = 30 * time.Second
)

// Deps are the dependencies of a runner.
type Deps struct {
	Store  *storage.Store
	Vault  *vault.Vault
	Client Client
	// Tasks, Notices and Registerer may be nil if the runner only checks sources.
	Tasks      events.Tasks
	Notices    events.NoticeLog
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
	// Jitter returns a number in [0,1). nil selects a random number.
	Jitter func() float64
}

// Runner runs sources. Any number of runners may run: a run is a task of one runner. The
// effect of a run and its record in the state of the source are stored together.
type Runner struct {
	Deps
	runs  *prometheus.CounterVec
	late  prometheus.Gauge
	age   prometheus.Gauge
	turns *turns.Turns // of the runs in progress

	planner events.Planner
}

// New returns a runner. Run starts it.
func New(d Deps) *Runner {
	if d.Jitter == nil {
		d.Jitter = rand.Float64
	}
	metrics := promauto.With(d.Registerer)
	gauge := func(name, help string) prometheus.Gauge {
		return metrics.NewGauge(prometheus.GaugeOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	return &Runner{
		Deps: d, turns: turns.New(slots, share),
		planner: events.Planner{Tasks: d.Tasks, Store: d.Store, Log: d.Log, Kind: events.TaskSource},
		runs: metrics.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "source_runs_total", Help: "Runs of sources by this process, by adapter and outcome.",
		}, []string{"adapter", "outcome"}),
		late: gauge("sources_late", "Active sources without a good run for two of their intervals, or without a new price for a day more."),
		age:  gauge("source_age_seconds", "Time since the last good run of the active source that has had none for longest."),
	}
}

// Run makes the scheduled runs until ctx ends. A run in progress is canceled, and another
// process repeats it.
func (r *Runner) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.Tasks.ConsumeTasks(ctx, ctx, events.TaskSource, slots, r.handle) })
	group.Go(func() error { return periodic.Run(ctx, planEvery, r.Log, "store the next run of every source", r.plan) })
	return group.Wait()
}

// plan stores the next run of every active source without a pending run, also at the end of
// a suspension. It replaces runs that are due too late. It also measures the ages.
func (r *Runner) plan(ctx context.Context) error {
	damaged := func(err error) { r.Log.Error("record of a source invalid", "error", err) }
	return r.planner.Search(ctx, func(search *events.PlannerSearch) error {
		var age time.Duration
		late, now := 0, r.Now()
		err := storage.Each(search, storage.KindSource, damaged, func(s *storage.Source, stored storage.Record) error {
			state, err := storage.ReadSourceState(search, s, stored.Revision)
			if storage.NoRecord(err) { // the next run replaces the state
				damaged(err)
				err = nil
			}
			if err != nil || !s.Enabled {
				return err
			}
			if active, err := storage.IsActive(search, s.OrganizationID); !active || err != nil {
				return err
			}
			age = max(age, now.Sub(state.GoodSince(s)))
			if state.Late(s, now) {
				late++
			}
			waiting := search.Need(events.TaskOf(s.Ref(), stored.Revision, state.NextRunAt.Time))
			if limit, corrected := correction(s, &state, search.Clock); waiting && state.NextRunAt.After(limit) {
				search.Correct(events.TaskOf(s.Ref(), stored.Revision, corrected), limit)
			}
			return nil
		})
		if err == nil { // otherwise the sources are not all counted
			r.late.Set(float64(late))
			r.age.Set(age.Seconds())
		}
		return err
	})
}

// postpone puts a run beyond the share of its organization again, by the clock of the tasks.
func (r *Runner) postpone(ctx context.Context, source *storage.Source, revision uint64) error {
	now, err := r.Tasks.Clock(ctx)
	if err != nil {
		return err
	}
	return r.Tasks.PutNewTask(ctx, events.TaskOf(source.Ref(), revision, now.Add(shareDelay)))
}

// observe counts and logs a run.
func (r *Runner) observe(s *storage.Source, state *storage.SourceState) {
	run := &state.Runs[0]
	r.runs.WithLabelValues(s.Adapter, string(run.Outcome)).Inc()
	details := []any{"source", s.ID, "org", s.OrganizationID, "adapter", s.Adapter, "requests", run.Requests, "next", state.NextRunAt.Time}
	switch run.Outcome {
	case storage.SourceFailed:
		r.Log.Warn("source run failed", append(details, "failures", state.Failures, "error", run.Error)...)
	case storage.SourceStored:
		r.Log.Info("source run stored new data", append(details, "added", run.Added, "changed", run.Changed, "events", run.Events, "tariff", run.Tariff)...)
	default:
		r.Log.Debug("source run found nothing new", details...)
	}
}
