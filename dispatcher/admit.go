package dispatcher

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// recipients are the endpoints of a slice.
type recipients struct {
	targets []*target.Target
	broken  []target.Broken
	// parkUntil is set if no endpoint is available now. failing reports whether an
	// endpoint is down because of failures.
	parkUntil time.Time
	failing   bool
}

// admit returns the endpoints of a trigger once one of them is available. A slice for a
// slow endpoint waits in memory, so that the endpoint stays busy. If all endpoints are
// down or silent, admit sets parkUntil, and the caller parks the walk.
func (w *Worker) admit(ctx context.Context, t *events.Trigger, free func()) (recipients, error) {
	for {
		var to recipients
		if t.Change != nil {
			return to, ctx.Err() // each subscription has its own endpoint
		}
		err := w.view(func(v storage.View) (err error) {
			to.targets, to.broken, err = w.targets.List(v, t.OrganizationID, storage.EventPriceSignalUpdated)
			return err
		})
		if err != nil {
			return to, err
		}
		to.parkUntil, to.failing = w.parkUntil(t, to.targets, w.Now())
		if to.parkUntil.IsZero() {
			return to, nil
		}
		full := firstFull(to.targets, w.Now())
		if full == nil || !full.AwaitCapacity(ctx, free) {
			return to, ctx.Err()
		}
	}
}

// admitCallbacks waits until a server of a slice's callbacks is available. If all servers
// are down or silent, it returns the time until which the caller parks the slice. So
// callbacks that wait cost one message for each slice.
func (w *Worker) admitCallbacks(ctx context.Context, t *events.Trigger, jobs []job, free func()) (parkUntil time.Time, err error) {
	var targets []*target.Target // one for each server
	seen := map[*gate.Endpoint]bool{}
	for i := range jobs {
		if e := jobs[i].target; t.Change != nil && !seen[e.Gate] {
			targets, seen[e.Gate] = append(targets, e), true
		}
	}
	for {
		until, _ := w.parkUntil(t, targets, w.Now())
		full := firstFull(targets, w.Now())
		if until.IsZero() || full == nil || !full.AwaitCapacity(ctx, free) {
			return until, ctx.Err()
		}
	}
}

// firstFull returns the first target that is not down, nil if all are down.
func firstFull(targets []*target.Target, now time.Time) *gate.Endpoint {
	for _, t := range targets {
		if t.Gate.OpenUntil(now).IsZero() {
			return t.Gate
		}
	}
	return nil
}

// parkUntil returns the time until which no endpoint is available, zero if one is. failing
// reports whether an endpoint is down because of failures. A slice past its deadline does
// not wait.
//
// A slice that waits for a failing endpoint is late afterwards, so a newer trigger
// supersedes it at once. A slice that waits for a slow endpoint, or for the end of a
// Retry-After, is not late. Otherwise triggers could arrive faster than such an endpoint
// takes their walks. The last homes would then never receive any signal.
func (w *Worker) parkUntil(t *events.Trigger, targets []*target.Target, now time.Time) (until time.Time, failing bool) {
	var first, last time.Time
	for _, e := range targets {
		until := w.unavailableUntil(e, now)
		if until.IsZero() {
			return time.Time{}, false
		}
		failing = failing || e.Gate.Failing(now)
		if first.IsZero() || until.Before(first) {
			first = until
		}
		if e.Gate.Failing(now) {
			last = latestOf(last, t.Deadline(e.RetryPolicy))
		} else {
			last = latestOf(last, deadline(t, e.RetryPolicy, 1))
		}
	}
	if len(targets) == 0 || !now.Before(last) {
		return time.Time{}, false
	}
	if last.Before(first) {
		return last, failing
	}
	return first, failing
}

// unavailableUntil returns the time until which an endpoint is unavailable: it is down,
// or has reached its limit of slow slices. It returns zero if the endpoint is available.
func (w *Worker) unavailableUntil(e *target.Target, now time.Time) time.Time {
	until := e.Gate.OpenUntil(now)
	if e.Gate.Full() {
		until = latestOf(until, now.Add(gate.ParkAfter))
	}
	return w.staggered(until)
}

// staggered adds a random delay, so that parked work does not return all at once.
func (w *Worker) staggered(until time.Time) time.Time {
	if until.IsZero() {
		return until
	}
	return until.Add(time.Duration(w.Jitter() * float64(gate.ParkAfter)))
}

func latestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// park postpones a slice and the rest of its lane as one message on disk. So an endpoint
// that is down costs a handful of messages, whatever the number of homes.
func (w *Worker) park(ctx context.Context, s *events.Slice, until time.Time) error {
	return w.putRetries(ctx, []events.Retry{{
		Trigger: s.Trigger, Sequence: s.Sequence, DueAt: storage.Time{Time: until.UTC()}, Walk: s,
	}})
}

// unpark puts a parked walk back on the queue. A worker that died may have done so
// before.
func (w *Worker) unpark(ctx context.Context, s events.Slice) error {
	s.Resumed = true
	return w.Bus.PutSlice(ctx, s)
}
