package sources

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
)

// handle makes a due run. If the process ends before, another process repeats it. A run
// that is recorded is not repeated.
func (r *Runner) handle(ctx context.Context, task events.Task, _ events.Taken) error {
	// Earlier changes and deletions must count.
	if err := r.Store.CatchUp(ctx); err != nil {
		return err
	}
	var source *storage.Source
	var state storage.SourceState
	err := r.Store.View(func(v storage.View) (err error) {
		source, state, err = current(v, task)
		return err
	})
	switch {
	case errors.Is(err, errOutdated):
		return nil
	case err != nil:
		return err
	case !state.DueAt.Equal(task.DueAt.Time):
		if !r.turns.TryAcquire(source.OrganizationID, 1) {
			return r.postpone(ctx, source, task.Revision)
		}
		defer r.turns.Release(source.OrganizationID, 1)
		if state, err = r.run(ctx, source, state, task); errors.Is(err, errOutdated) || errors.Is(err, storage.ErrNotFound) {
			return nil // ErrNotFound: the source was deleted while its first state was written
		}
		if err != nil {
			return err
		}
	}
	if err := r.notify(ctx, source); err != nil {
		return err
	}
	// A pending task of the same name is a run that was asked for meanwhile.
	return r.Tasks.PutNewTask(ctx, events.TaskOf(source.Ref(), task.Revision, state.NextRunAt.Time))
}

// errOutdated says that a source was deleted, paused or changed, that its organization is not
// active, that its record does not decode, or that another process has recorded the run.
var errOutdated = errors.New("the run is outdated")

// current returns the source of a task and its state. Errors: errOutdated.
func current(v storage.View, task events.Task) (*storage.Source, storage.SourceState, error) {
	source, found, err := storage.Read[storage.Source](v, storage.KindSource.Ref(task.OrganizationID, task.ID))
	if storage.NoRecord(err) || err == nil && (found != task.Revision || !source.Enabled) {
		return nil, storage.SourceState{}, errOutdated
	}
	if err != nil {
		return nil, storage.SourceState{}, err
	}
	active, err := storage.IsActive(v, source.OrganizationID)
	if err == nil && !active { // plan puts the next run when the organization is resumed
		err = errOutdated
	}
	if err != nil {
		return nil, storage.SourceState{}, err
	}
	state, err := storage.ReadSourceState(v, &source, task.Revision)
	if storage.NoRecord(err) { // this run replaces the state
		err = nil
	}
	return &source, state, err
}

// run fetches and stores the data of a source, and records the run. Errors: errOutdated,
// storage.ErrUnavailable, and the end of ctx.
func (r *Runner) run(ctx context.Context, source *storage.Source, state storage.SourceState, task events.Task) (storage.SourceState, error) {
	lacks, err := storage.Query(r.Store, state.Lacks)
	if err != nil {
		return state, err
	}
	if lacks {
		state.DataEnd, state.Validators = storage.Time{}, storage.SourceValidators{}
	}
	f, run, failure := r.fetch(ctx, source, &state)
	if ctx.Err() != nil {
		return state, ctx.Err()
	}
	fail := func(failure error) {
		run.Outcome, run.Error = storage.SourceFailed, clip(f.hide(failure).Error())
		state, err = r.record(ctx, task, f, run)
	}
	if failure != nil {
		fail(failure)
	} else if state, err = r.record(ctx, task, f, run); isAboutData(err) {
		fail(err)
	}
	if err == nil {
		r.observe(source, &state)
	}
	return state, err
}

// maxError is the maximum length of an error in the log of a source, in bytes.
const maxError = 500

func clip(text string) string {
	if len(text) > maxError {
		return strings.ToValidUTF8(text[:maxError], "") + "..."
	}
	return text
}

// isAboutData reports whether an error of record is about the data, so that a repetition
// has the same error.
func isAboutData(err error) bool {
	return err != nil && !errors.Is(err, errOutdated) && !errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrConflict) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// fetch makes the requests of a source. The run has everything but its effect.
func (r *Runner) fetch(ctx context.Context, source *storage.Source, state *storage.SourceState) (*fetched, storage.SourceRun, error) {
	now := r.Now()
	run := storage.SourceRun{At: storage.Time{Time: now.UTC().Truncate(time.Millisecond)}}
	opened := *source
	adapter, known := feed.ByName(source.Adapter)
	err := r.Vault.OpenSource(&opened)
	if err == nil && !known {
		err = errors.New("the adapter " + source.Adapter + " is unknown to this version of Gridhook")
	}
	if err != nil {
		return &fetched{}, run, err
	}
	from, to := span(now, state.DataEnd.Time, opened.Location())
	f := fetcher{client: r.Client, adapter: &adapter, query: opened.Query(&adapter, from, to), now: now, had: state.Validators}
	err = f.run(ctx)
	run.Requests, run.Seconds = f.requests, r.Now().Sub(now).Round(time.Millisecond).Seconds()
	return &f.fetched, run, err
}

// record stores the data of a fetch together with the state of its source. If the run has
// failed it stores the state alone.
func (r *Runner) record(ctx context.Context, task events.Task, f *fetched, run storage.SourceRun) (state storage.SourceState, err error) {
	err = r.Store.Rewrite(ctx, func(v storage.View) (storage.Revised, error) {
		source, had, err := current(v, task)
		if err != nil {
			return storage.Revised{}, err
		}
		if had.DueAt.Equal(task.DueAt.Time) && !had.DueAt.IsZero() {
			return storage.Revised{}, errOutdated
		}
		state = had
		w := writer{View: v, store: r.Store, source: source, now: run.At.Time, run: run, end: had.DataEnd.Time}
		if run.Outcome != storage.SourceFailed {
			if err := w.write(f); err != nil {
				return storage.Revised{}, err
			}
			w.run.Outcome = storage.SourceUnchanged
			if len(w.Put)+len(w.Gone) > 0 {
				w.run.Outcome = storage.SourceStored
			}
			state.DataEnd.Time, state.Validators = w.end, f.validators
			if len(w.series) > 0 {
				state.Series = w.series[:min(len(w.series), storage.MaxSourceSeries)]
			}
		}
		state.DueAt = task.DueAt
		if state.LastGoodAt.After(run.At.Time) {
			state.LastGoodAt = run.At // of a clock that was ahead
		}
		state.Record(w.run)
		state.NextRunAt = storage.Time{Time: r.next(source, &state, f.retryAfter)}
		w.Put = append(w.Put, &state)
		return w.Revised, nil
	})
	return state, err
}

// Delays after failures. They double up to the interval, within these bounds. A server
// that has failed for long is asked seldom.
const (
	firstRetry   = 30 * time.Second
	breakerDelay = 15 * time.Minute
	longestRetry = time.Hour
)

// correction returns the latest time of the next run, and its time if it is later. A
// process whose clock was ahead has planned it then. The corrected run also keeps its
// distance from the last, so that a clock that stays ahead causes no frequent requests.
func correction(source *storage.Source, state *storage.SourceState, now time.Time) (latest, corrected time.Time) {
	longest, delay := source.Every(), source.Every()
	if state.Failures > 0 {
		longest, delay = maxRetryAfter, min(delay, longestRetry)
	}
	since := max(now.Sub(state.DueAt.Time), 0)
	return now.Add(longest + events.ClockTolerance), now.Add(max(delay-since, 0))
}

// next returns the time of the next run.
func (r *Runner) next(source *storage.Source, state *storage.SourceState, retryAfter time.Duration) time.Time {
	now := r.Now().UTC().Truncate(time.Millisecond)
	if state.Failures == 0 {
		next := state.DueAt.Add(source.Every())
		if !next.After(now) { // the runs missed in between are left out
			next = now.Add(source.Every())
		}
		return next
	}
	const most = 16 // doublings
	delay := min(firstRetry<<min(state.Failures-1, most), min(max(source.Every(), breakerDelay), longestRetry))
	delay -= time.Duration(r.Jitter() * float64(delay) / 2)
	return now.Add(max(delay, retryAfter))
}
