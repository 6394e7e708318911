package dispatcher

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Nothing can be sent to an endpoint that is down, or for which the worker holds enough
// slow slices. What waits for one that is down is late then, and gives way to newer
// signals. What waits for one that is merely slow is in its turn: were it late too, and
// triggers came faster than such an endpoint takes their walks, the last homes would
// never be sent any signal.

// down is until when nothing is sent to an endpoint because its breaker is open, zero
// when it is not.
func (e *endpoint) down(now time.Time, jitter float64) time.Time {
	return staggered(e.breaker.openUntil(now), jitter)
}

// unavailable is until when nothing can be sent to an endpoint, zero when
// something can.
func (e *endpoint) unavailable(now time.Time, jitter float64) time.Time {
	until := e.breaker.openUntil(now)
	if e.crowd.full() {
		until = later(until, now.Add(crowdedFor))
	}
	return staggered(until, jitter)
}

// staggered spreads what waits until a time, for it must not all come back together.
func staggered(until time.Time, jitter float64) time.Time {
	if until.IsZero() {
		return until
	}
	return until.Add(time.Duration(jitter * float64(crowdedFor)))
}

// planWithRoom plans a slice. Where nothing is wrong with its endpoint but that it has
// not answered what it was sent, it waits for a while for it to do so: an endpoint that
// takes its time is kept busy, and one that hangs has the walk parked after all.
func (w *Worker) planWithRoom(ctx context.Context, t *events.Trigger, s *events.Slice, free func()) (slicePlan, error) {
	began := time.Now()
	for {
		plan, err := w.plan(t, s)
		if err != nil || plan.crowd == nil || !w.relief.await(ctx, plan.crowd, crowdedFor-time.Since(began), free) {
			return plan, err
		}
	}
}

// crowdOf is the crowd of the first of the targets that is not down, nil when all are.
func crowdOf(targets []*endpoint, now time.Time) *crowd {
	for _, e := range targets {
		if e.breaker.openUntil(now).IsZero() {
			return e.crowd
		}
	}
	return nil
}

// parkUntil is until when none of the endpoints can be sent anything, zero when
// one can, and whether one of them is down. What is past its deadline need not wait.
func (w *Worker) parkUntil(t *events.Trigger, targets []*endpoint, now time.Time) (until time.Time, down bool) {
	var first, deadline time.Time
	for _, e := range targets {
		until := e.unavailable(now, w.Jitter())
		if until.IsZero() {
			return time.Time{}, false
		}
		down = down || !e.breaker.openUntil(now).IsZero()
		if first.IsZero() || until.Before(first) {
			first = until
		}
		deadline = later(deadline, t.Deadline(e.RetryPolicy))
	}
	if len(targets) == 0 || !now.Before(deadline) {
		return time.Time{}, false
	}
	if deadline.Before(first) {
		return deadline, down
	}
	return first, down
}

// park puts off a slice, and with it all of the walk that follows in its lane, as
// one message on disk: an endpoint that is down costs a handful of messages,
// however many homes there are.
func (w *Worker) park(ctx context.Context, s *events.Slice, until time.Time) error {
	w.metrics.walksParked.Inc()
	return w.putRetries(ctx, []events.Retry{{
		Trigger: s.Trigger, Sequence: s.Sequence, DueAt: storage.Time{Time: until.UTC()}, Walk: s,
	}})
}

// unpark takes up a parked walk. It may have been taken up before, by a worker
// that died of it.
func (w *Worker) unpark(ctx context.Context, s events.Slice) error {
	s.Resumed = true
	return w.Bus.PutSlice(ctx, s)
}

// postpone puts off a retry as it is.
func (w *Worker) postpone(ctx context.Context, r events.Retry, until time.Time) error {
	r.Round++
	r.DueAt = storage.Time{Time: until.UTC()}
	return w.putRetries(ctx, []events.Retry{r})
}

func (w *Worker) putRetries(ctx context.Context, retries []events.Retry) error {
	if len(retries) == 0 {
		return nil
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	if err := w.Bus.PutRetries(ctx, retries); err != nil {
		return err
	}
	w.metrics.retriesScheduled.Add(float64(len(retries)))
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
