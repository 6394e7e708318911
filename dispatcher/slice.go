package dispatcher

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/dispatcher/walks"
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
	// A redelivered walk is late, because a newer walk may have passed it.
	first := events.Slice{Trigger: t, Sequence: t.Sequence, Late: taken.Redelivered}
	w.position(&first, 0, false)
	if err := w.Bus.PutSlice(ctx, first); err != nil {
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
	// The slice holds slots of the worker in addition to its slot of the queue. A slow
	// slice frees them all.
	freeQueue := taken.Free
	taken.At = w.Now()
	err := events.Recovered(func() error {
		org := s.Trigger.OrganizationID
		slots, err := w.turns.Acquire(ctx, org, w.slots(org))
		if err != nil {
			return err
		}
		done := sync.OnceFunc(func() { w.turns.Release(org, slots) })
		defer done()
		taken.Free = func() { done(); freeQueue() }
		return w.walkSlice(ctx, &s, taken)
	})
	if err == nil || requeues(ctx, err) {
		return err
	}
	return w.sliceFailed(ctx, &s, err)
}

// slots returns the number of slots for a slice of an organization. At each endpoint it has
// at least one request in flight.
func (w *Worker) slots(org string) int {
	endpoints := 1
	_ = w.Store.View(func(v storage.View) error { // on an error the slice counts once
		targets, _, err := w.targets.List(v, org, storage.EventPriceSignalUpdated)
		endpoints = max(1, len(targets))
		return err
	})
	return (endpoints-1)/w.opt.perSlice() + 1
}

// walkSlice performs the steps of a slice.
func (w *Worker) walkSlice(ctx context.Context, s *events.Slice, taken events.Taken) error {
	if done, err := w.done(ctx, s, taken.Redelivered || s.Resumed); done || err != nil {
		return err
	}
	w.metrics.slicesInFlight.Inc()
	defer w.metrics.slicesInFlight.Dec()
	if err := w.awaitState(ctx, s.Trigger.Revision); err != nil {
		return err
	}
	place := walks.Place{Trigger: &s.Trigger, Slice: s.Number, Late: s.Late || taken.Redelivered}
	to, err := w.admit(ctx, place, taken)
	if err != nil {
		return err
	}
	if done, err := w.done(ctx, s, w.Now().Sub(taken.At) >= longWait); done || err != nil {
		return err
	}
	if !to.parkUntil.IsZero() {
		s.Late = s.Late || to.late
		w.metrics.walksParked.Inc()
		return w.park(ctx, s, to.parkUntil)
	}
	homes, err := w.readHomes(s)
	if err != nil {
		return err
	}
	if err := w.enqueueNext(ctx, s, homes.ahead, taken.Redelivered || s.Resumed); err != nil {
		return err
	}
	jobs, outcomes, err := w.price(s, &homes, to, place)
	if err != nil {
		return err
	}
	if s.Trigger.Change != nil {
		targets := servers(jobs)
		if to.availability = w.availability(&s.Trigger, targets, w.Now()); !to.parkUntil.IsZero() {
			homes = sliceOfHomes{} // a slice that waits takes little memory
			if ended, err := w.awaitServers(ctx, s, &to, targets, taken); ended || err != nil {
				return err
			}
			if homes, jobs, outcomes, err = w.readCallbacks(s, to, place); err != nil {
				return err
			}
		}
	}
	jobs, outcomes = w.supersede(jobs, outcomes)
	jobs, outcomes, have, err := w.skipUnchanged(ctx, s, &homes, jobs, outcomes)
	if err != nil {
		return err
	}
	watch := w.gate.Watch(taken.Free)
	defer watch.End()
	results, stored := w.deliver(ctx, jobs, to.until, watch)
	w.metrics.homesWalked.Add(float64(homes.bounds.Homes))
	w.metrics.count(outcomes)
	err = w.record(ctx, &s.Trigger, jobs, results, events.Receipt{Key: s.Key(), Slice: &homes.bounds, Deliveries: outcomes, RetryBytes: stored})
	if err == nil {
		w.keepKnown(ctx, s, have, jobs, results)
	}
	return err
}

// longWait is a wait after which another worker may have processed a slice, because this
// one could not show NATS that it was alive.
const longWait = 3 * time.Second

// done reports whether a slice that another worker may have processed has a receipt. Such
// a slice is not repeated.
func (w *Worker) done(ctx context.Context, s *events.Slice, maybe bool) (bool, error) {
	if !maybe {
		return false, nil
	}
	return w.Bus.HasReceipt(ctx, s.Trigger.OrganizationID, s.Trigger.ID, s.Key())
}

// catchUpTimeout is how long a slice waits for the replica. The slice is then requeued
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

// sliceOfHomes holds the homes of a slice, and the starts of the next slices.
type sliceOfHomes struct {
	bounds events.SliceBounds
	homes  []storage.Record
	// ahead holds the last homes of this slice and of the next slices that it puts. Each
	// is followed by more homes.
	ahead []string
}

// has reports whether a home is in the slice.
func (r *sliceOfHomes) has(home string) bool {
	_, ok := slices.BinarySearchFunc(r.homes, home, func(h storage.Record, id string) int { return cmp.Compare(h.ID, id) })
	return ok
}

// group is the number of slices that a slice puts at once: the first slice of a group
// puts the others and the first slice of the next group. So the homes are not scanned
// once more for each slice. The step from a slice to its successor takes about 3 ms on a
// busy machine. Groups of one slice would limit a trigger to some 20,000 homes a second.
const group = 4

// puts returns the number of slices that a slice puts: the rest of the group and the
// first slice of the next. A resumed slice puts them too, because the queue may have lost
// them.
func puts(s *events.Slice) int {
	place := s.Number % group
	if place > 0 && !s.Resumed {
		return 0
	}
	return group - place
}

// readHomes reads the homes of a slice. Errors: *storeError.
func (w *Worker) readHomes(s *events.Slice) (sliceOfHomes, error) {
	read := sliceOfHomes{bounds: events.SliceBounds{Number: s.Number, After: s.After, Through: s.Through, Last: s.Through == ""}}
	t := &s.Trigger
	read.homes = make([]storage.Record, 0, t.SliceHomes())
	err := w.view(func(v storage.View) error {
		places, last := 0, s.Through // of the slice that the scan is in
		return v.Scan(walked(t), t.OrganizationID, s.After, func(r storage.Record) bool {
			if !hasPlace(r, t.Revision) {
				return true
			}
			ended := places == t.SliceHomes()
			if s.Through != "" && len(read.ahead) == 0 {
				ended = r.ID > s.Through
			}
			if ended {
				read.bounds.Last = false
				if len(read.ahead) == puts(s) {
					return false
				}
				read.ahead, places = append(read.ahead, last), 0
			}
			places, last = places+1, max(last, r.ID)
			if len(read.ahead) > 0 {
				return true
			}
			read.bounds.Through = last
			if inTrigger(r, t.Revision) {
				r.Value = bytes.Clone(r.Value) // it is valid only inside the view
				read.homes = append(read.homes, r)
			}
			return true
		})
	})
	return read, err
}

// hasPlace reports whether a home has a place in the walk of a trigger accepted at a
// revision. A home created before the revision always has one, even after its deletion.
// So every worker finds the same slices at any time.
func hasPlace(r storage.Record, revision uint64) bool { return r.First <= revision }

// inTrigger reports whether a home with a place existed at the trigger's revision.
func inTrigger(r storage.Record, revision uint64) bool { return !r.Deleted || r.Revision > revision }

// enqueueNext puts the next slices on the queue before the slice is priced and delivered,
// so that all workers can work on one trigger. It puts them at the same time: on a busy
// machine each acknowledgement takes 10 ms or more. A redelivered slice must not fork the
// walk. The queue may have forgotten the message ids of its successors, so enqueueNext
// asks whether the walk has reached them. From then on the end of the slice is fixed.
func (w *Worker) enqueueNext(ctx context.Context, s *events.Slice, ahead []string, again bool) error {
	if most := puts(s); most > 0 {
		w.position(s, s.Number+len(ahead), len(ahead) < most)
	}
	var putting errgroup.Group
	for step, after := range ahead {
		next := events.Slice{Trigger: s.Trigger, Sequence: s.Sequence, Number: s.Number + step + 1, After: after, Late: s.Late}
		if step == 0 {
			s.Through = after
		}
		if step+1 < len(ahead) {
			next.Through = ahead[step+1]
		}
		putting.Go(func() error {
			if again {
				if reached, err := w.Bus.Reached(ctx, s.Trigger, next.Number); reached || err != nil {
					return err
				}
			}
			return w.Bus.PutSlice(ctx, next)
		})
	}
	return putting.Wait()
}

// position publishes the position of a walk, unless the walk is known to be there. A
// slice that is walked again must not take the position back. A worker that misses the
// position may send superseded signals. So the position comes before the slices: a worker that
// dies in between would leave slices that other workers deliver, and that supersede nothing.
// Notifications supersede nothing, so their walks have no position.
func (w *Worker) position(s *events.Slice, slice int, last bool) {
	if s.Trigger.Change != nil {
		return
	}
	// Otherwise two slices of a walk could publish their positions in the other order.
	w.positions.Lock()
	defer w.positions.Unlock()
	p := events.WalkPosition{OrganizationID: s.Trigger.OrganizationID, TriggerID: s.Trigger.ID, Slice: slice, Last: last}
	if !w.walks.Advance(p) {
		return
	}
	if err := w.Bus.PutPosition(p); err != nil {
		w.Log.Debug("walk position not stored", "trigger", p.TriggerID, "error", err)
	}
}

// requeues reports whether an error may end without a change: the store or NATS is
// unavailable, or the worker is stopping. Such a message is requeued without a limit. A
// record that does not decode stays so.
func requeues(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, storage.ErrUnavailable) ||
		errors.As(err, new(*storeError)) && !errors.As(err, new(*storage.DecodeError)) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// storeError is an error of the replica. The message is requeued for another worker.
type storeError struct{ err error }

func (e *storeError) Error() string { return "read the replica: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// view reads the replica. Errors: *storeError.
func (w *Worker) view(read func(storage.View) error) error {
	if err := w.Store.View(read); err != nil {
		return &storeError{err}
	}
	return nil
}
