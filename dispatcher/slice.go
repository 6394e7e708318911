package dispatcher

import (
	"context"
	"slices"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// handleTrigger starts a trigger's walk.
func (w *Worker) handleTrigger(ctx context.Context, t events.Trigger, taken events.Taken) error {
	if taken.Redelivered || w.Now().Sub(t.CreatedAt.Time) > events.StalledAfter/2 {
		if begun, err := w.Bus.Reached(ctx, t, 0); begun || err != nil {
			return err
		}
	}
	if err := w.announce(ctx, &t); err != nil {
		return err
	}
	// A redelivered walk is late, because a newer walk may have passed it.
	if err := w.putSlice(ctx, events.Slice{Trigger: t, Sequence: t.Sequence, Late: taken.Redelivered}); err != nil {
		return err
	}
	w.metrics.triggers.Inc()
	w.Log.Info("walk began", "trigger", t.ID, "org", t.OrganizationID, "homes", t.Homes, "request", t.RequestID)
	return nil
}

// handleSlice walks one slice of a trigger's homes. It returns only errors of the store
// and of NATS, which hand the slice back. A failure of one home is the outcome of that
// home. A slice that fails otherwise is retried a few times and then recorded as failed.
func (w *Worker) handleSlice(ctx context.Context, s events.Slice, taken events.Taken) error {
	s.Trigger.Sequence = s.Sequence
	err := contained(func() error { return w.walkSlice(ctx, &s, taken) })
	if err == nil || handsBack(ctx, err) {
		return err
	}
	return w.sliceFailed(ctx, &s, err)
}

// walkSlice performs the steps of a slice.
func (w *Worker) walkSlice(ctx context.Context, s *events.Slice, taken events.Taken) error {
	if done, err := w.alreadyDone(ctx, s, taken); done || err != nil {
		return err
	}
	w.metrics.slicesInFlight.Inc()
	defer w.metrics.slicesInFlight.Dec()
	if err := w.awaitState(ctx, s.Trigger.Revision); err != nil {
		return err
	}
	to, err := w.admit(ctx, &s.Trigger, taken.Free)
	if err != nil {
		return err
	}
	if !to.parkUntil.IsZero() {
		s.Late = s.Late || to.down
		return w.park(ctx, s, to.parkUntil)
	}
	homes, err := w.readHomes(s)
	if err != nil {
		return err
	}
	if err := w.enqueueNext(ctx, s, homes.ahead, taken.Redelivered || s.Resumed); err != nil {
		return err
	}
	jobs, outcomes, err := w.price(s, &homes, to, order{&s.Trigger, s.Number, s.Late || taken.Redelivered})
	if err != nil {
		return err
	}
	jobs, superseded := w.supersede(jobs)
	jobs, unchanged, known, err := w.skipUnchanged(ctx, s, jobs)
	if err != nil {
		return err
	}
	results := w.deliver(ctx, jobs, taken.Free)
	if err := w.keepKnown(ctx, s, known, jobs, results); err != nil {
		return err
	}
	outcomes = slices.Concat(outcomes, superseded, unchanged)
	w.metrics.homesWalked.Add(float64(homes.bounds.Homes))
	w.metrics.count(outcomes)
	return w.record(ctx, &s.Trigger, jobs, results, events.Receipt{Key: s.Key(), Slice: &homes.bounds, Deliveries: outcomes})
}

// alreadyDone reports whether a redelivered or resumed slice has a receipt. A slice with
// a receipt is not repeated.
func (w *Worker) alreadyDone(ctx context.Context, s *events.Slice, taken events.Taken) (bool, error) {
	if !taken.Redelivered && !s.Resumed {
		return false, nil
	}
	return w.Bus.HasReceipt(ctx, s.Trigger.OrganizationID, s.Trigger.ID, s.Key())
}

// catchUpTimeout is how long a slice waits for the replica. The slice is then handed back
// for another worker, or a later time.
const catchUpTimeout = 5 * time.Second

// awaitState waits until the replica has reached the trigger's revision.
func (w *Worker) awaitState(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	if err := w.Store.WaitFor(ctx, revision); err != nil {
		return &storeError{err}
	}
	return nil
}

// recipients are the endpoints of a slice.
type recipients struct {
	targets []*target.Target
	broken  []target.Broken
	// parkUntil is set if no endpoint is available now. down reports whether an endpoint
	// is down.
	parkUntil time.Time
	down      bool
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
		to.parkUntil, to.down = w.parkUntil(t, to.targets, w.Now())
		if to.parkUntil.IsZero() {
			return to, nil
		}
		full := firstFull(to.targets, w.Now())
		if full == nil || !full.AwaitRoom(ctx, free) {
			return to, ctx.Err()
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

// parkUntil returns the time until which no endpoint is available, zero if one is. down
// reports whether an endpoint is down. A slice past its deadline does not wait.
//
// A slice that waits for an endpoint that is down is late afterwards, so a newer trigger
// supersedes it at once. A slice that waits for a slow endpoint is not late. Otherwise
// triggers could arrive faster than a slow endpoint takes their walks. The last homes
// would then never receive any signal.
func (w *Worker) parkUntil(t *events.Trigger, targets []*target.Target, now time.Time) (until time.Time, down bool) {
	var first, deadline time.Time
	for _, e := range targets {
		until := w.unavailableUntil(e, now)
		if until.IsZero() {
			return time.Time{}, false
		}
		down = down || !e.Gate.OpenUntil(now).IsZero()
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

// unavailableUntil returns the time until which an endpoint is unavailable: it is down,
// or has reached its limit of slow slices. It returns zero if the endpoint is available.
func (w *Worker) unavailableUntil(e *target.Target, now time.Time) time.Time {
	until := e.Gate.OpenUntil(now)
	if e.Gate.Full() {
		until = later(until, now.Add(gate.ParkAfter))
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

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// park postpones a slice and the rest of its lane as one message on disk. So an endpoint
// that is down costs a handful of messages, whatever the number of homes.
func (w *Worker) park(ctx context.Context, s *events.Slice, until time.Time) error {
	w.metrics.walksParked.Inc()
	return w.putRetries(ctx, []events.Retry{{
		Trigger: s.Trigger, Sequence: s.Sequence, DueAt: storage.Time{Time: until.UTC()}, Walk: s,
	}})
}

// unpark puts a parked walk back on the queue. A worker that died may have done so
// before.
func (w *Worker) unpark(ctx context.Context, s events.Slice) error {
	s.Resumed = true
	return w.putSlice(ctx, s)
}

// sliceOfHomes holds the homes of a slice, and the starts of the next slices.
type sliceOfHomes struct {
	bounds events.SliceBounds
	homes  []storage.Record
	// ahead holds the last homes of this slice and of the next slices, at most lanes.
	// Each is followed by more homes.
	ahead []string
}

// lanes is the number of slices of a trigger in progress ahead of each other. The step
// from a slice to its successor takes about 3 ms on a busy machine. A single lane would
// limit a trigger to some 20,000 homes a second.
const lanes = 4

// readHomes reads the homes of a slice. Errors: *storeError.
func (w *Worker) readHomes(s *events.Slice) (sliceOfHomes, error) {
	read := sliceOfHomes{bounds: events.SliceBounds{Number: s.Number, After: s.After}}
	t := &s.Trigger
	var values []byte // of all homes, because a record's value is valid only inside the view
	err := w.view(func(v storage.View) error {
		places, last := 0, ""
		return v.Scan(walked(t), t.OrganizationID, s.After, func(r storage.Record) bool {
			if !hasPlace(r, t.Revision) {
				return true
			}
			if places > 0 && places%events.SliceHomes == 0 {
				if read.ahead = append(read.ahead, last); len(read.ahead) == lanes {
					return false
				}
			}
			places, last = places+1, r.ID
			if places <= events.SliceHomes {
				read.bounds.Through = r.ID
				if inTrigger(r, t.Revision) {
					from := len(values)
					values = append(values, r.Value...)
					r.Value = values[from:len(values):len(values)]
					read.homes = append(read.homes, r)
				}
			}
			return true
		})
	})
	read.bounds.Last = len(read.ahead) == 0
	return read, err
}

// hasPlace reports whether a home has a place in the walk of a trigger accepted at a
// revision. A home created before the revision always has one, even after its deletion.
// So every worker finds the same slices at any time.
func hasPlace(r storage.Record, revision uint64) bool { return r.First <= revision }

// inTrigger reports whether a home with a place existed at the trigger's revision.
func inTrigger(r storage.Record, revision uint64) bool { return !r.Deleted || r.Revision > revision }

// enqueueNext puts the next slices on the queue before the slice is priced and delivered,
// so that all workers can work on one trigger. The first slice puts the next few slices.
// Each later slice puts the slice lanes ahead. A resumed slice puts all of them, because
// the queue may have lost them too. A redelivered slice must not fork the walk. The queue
// may have forgotten the message id of its successor, so enqueueNext asks whether the
// walk has reached it.
func (w *Worker) enqueueNext(ctx context.Context, s *events.Slice, ahead []string, again bool) error {
	from := lanes
	if s.Number == 0 || s.Resumed {
		from = 1
	}
	for step := from; step <= len(ahead); step++ {
		next := events.Slice{Trigger: s.Trigger, Sequence: s.Sequence, Number: s.Number + step, After: ahead[step-1], Late: s.Late}
		if again {
			reached, err := w.Bus.Reached(ctx, s.Trigger, next.Number)
			if err != nil {
				return err
			}
			if reached {
				continue
			}
		}
		if err := w.putSlice(ctx, next); err != nil {
			return err
		}
	}
	if len(ahead) < lanes {
		w.position(s, s.Number+len(ahead), true)
	}
	return nil
}

// putSlice puts a slice on the queue and publishes the walk's position.
func (w *Worker) putSlice(ctx context.Context, s events.Slice) error {
	if err := w.Bus.PutSlice(ctx, s); err != nil {
		return err
	}
	w.position(&s, s.Number, false)
	return nil
}

// position publishes the position of a walk. A worker that misses it may send superseded
// signals.
func (w *Worker) position(s *events.Slice, slice int, last bool) {
	p := events.WalkPosition{OrganizationID: s.Trigger.OrganizationID, TriggerID: s.Trigger.ID, Slice: slice, Last: last}
	w.walks.Reached(p)
	if err := w.Bus.PutPosition(p); err != nil {
		w.Log.Debug("walk position not stored", "trigger", p.TriggerID, "error", err)
	}
}
