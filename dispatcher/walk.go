package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// job is one home's signal on its way to one endpoint.
type job struct {
	message
	endpoint *endpoint
	// attempt is the number of the attempt to be made, from 1, and round how
	// often it was put off before.
	attempt, round int
	// slice is the number of the slice that the home is of, and turn its place in the
	// order of signals, nil where there is none.
	slice int
	turn  *turn
}

// slicePlan is what a slice has to do.
type slicePlan struct {
	bounds events.SliceBounds
	// ahead are the last homes of this slice and of those after it, each with
	// more homes behind it, at most lanes.
	ahead []string
	jobs  []job
	// settled are the homes that no request is made for.
	settled []events.Delivery
	// parkUntil is set when nothing can be sent now to any endpoint, and down when one
	// of them is down.
	parkUntil time.Time
	down      bool
	// crowd is the one to wait in where nothing is wrong but that it is full.
	crowd *crowd
}

// handleSlice walks one slice.
func (w *Worker) handleSlice(ctx context.Context, s events.Slice, taken events.Taken) error {
	t := s.Trigger
	t.Sequence = s.Sequence
	redelivered := taken.Redelivered || s.Resumed
	if redelivered {
		// What a receipt says was done is not done again.
		if done, err := w.Bus.HasReceipt(ctx, t.OrganizationID, t.ID, s.Key()); done || err != nil {
			return err
		}
	}
	w.metrics.slicesInFlight.Inc()
	defer w.metrics.slicesInFlight.Dec()
	if err := w.awaitState(ctx, t.Revision); err != nil {
		return err
	}
	plan, err := w.planWithRoom(ctx, &t, &s, taken.Free)
	if err != nil {
		return err
	}
	if !plan.parkUntil.IsZero() {
		s.Late = s.Late || plan.down
		return w.park(ctx, &s, plan.parkUntil)
	}
	if err := w.dropSuperseded(ctx, &turn{trigger: &t, slice: s.Number, late: s.Late || taken.Redelivered}, &plan); err != nil {
		return err
	}
	if err := w.putSuccessors(ctx, &s, plan.ahead, redelivered); err != nil {
		return err
	}
	known, err := w.skipUnchanged(ctx, &t, &plan)
	if err != nil {
		return err
	}
	deliveries, retries := w.deliver(ctx, &t, plan.jobs, taken.Free)
	if err := w.keepKnown(ctx, &t, s.Number, known, plan.jobs, deliveries); err != nil {
		return err
	}
	w.metrics.homesWalked.Add(float64(plan.bounds.Homes))
	w.metrics.count(plan.settled)
	return w.settle(ctx, retries, events.Receipt{
		TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: s.Key(),
		Slice: &plan.bounds, Deliveries: append(plan.settled, deliveries...), Kept: givenUpOf(plan.jobs, deliveries),
	})
}

// awaitState waits until the replica is at least where the trigger was accepted.
func (w *Worker) awaitState(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpWait)
	defer cancel()
	return w.Store.WaitFor(ctx, revision)
}

// lanes is how many slices of a trigger are under way ahead of each other. The
// step from a slice to its successor takes about 3 ms on a busy machine; one
// lane alone would bound a trigger to some 20,000 homes a second.
const lanes = 4

// putSuccessors puts what follows a slice on the queue before the slice is
// delivered, so that all workers can be on one trigger: the first slice puts the
// next few, and each of these the one that many places ahead; one that the queue
// had lost puts all of them, as they may be lost too. A redelivered slice
// must not fork the walk: its successor may have been put longer ago than the
// queue remembers.
func (w *Worker) putSuccessors(ctx context.Context, s *events.Slice, ahead []string, redelivered bool) error {
	from := lanes
	if s.Number == 0 || s.Resumed {
		from = 1
	}
	for step := from; step <= len(ahead); step++ {
		next := events.Slice{Trigger: s.Trigger, Sequence: s.Sequence, Number: s.Number + step, After: ahead[step-1], Late: s.Late}
		if redelivered {
			reached, err := w.Bus.Reached(ctx, s.Trigger, next.Number)
			if err != nil {
				return err
			}
			if reached {
				continue
			}
		}
		if err := w.Bus.PutSlice(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// plan reads the slice's homes and prices them, and looks where the slices after
// it begin, all from one view.
func (w *Worker) plan(t *events.Trigger, s *events.Slice) (slicePlan, error) {
	plan := slicePlan{bounds: events.SliceBounds{Number: s.Number, After: s.After}}
	now := storage.Time{Time: w.Store.Now()}
	err := w.Store.View(func(v storage.View) error {
		targets, err := w.endpoints.of(v, t.OrganizationID, storage.EventPriceSignalUpdated)
		if err != nil {
			return err
		}
		if plan.parkUntil, plan.down = w.parkUntil(t, targets, w.Now()); !plan.parkUntil.IsZero() {
			plan.crowd = crowdOf(targets, w.Now())
			return nil
		}
		places, last := 0, ""
		prices := w.Book.Reader(v)
		var failed error
		err = v.Scan(storage.KindHome, t.OrganizationID, s.After, func(r storage.Record) bool {
			if !hasPlace(r, t.Revision) {
				return true
			}
			if places > 0 && places%events.SliceHomes == 0 {
				if plan.ahead = append(plan.ahead, last); len(plan.ahead) == lanes {
					return false
				}
			}
			places, last = places+1, r.ID
			if places <= events.SliceHomes {
				plan.bounds.Through = r.ID
				failed = w.planHome(prices, r, t, targets, &plan, now)
			}
			return failed == nil
		})
		plan.bounds.Last = len(plan.ahead) == 0
		return errors.Join(err, failed)
	})
	if err != nil {
		return plan, fmt.Errorf("plan slice %d of %s: %w", s.Number, t.ID, err)
	}
	return plan, nil
}

// planHome prices one home of the slice.
func (w *Worker) planHome(prices *signals.Reader, r storage.Record, t *events.Trigger, targets []*endpoint, plan *slicePlan, now storage.Time) error {
	if !inTrigger(r, t.Revision) {
		return nil
	}
	if meant, err := means(prices, r, t); !meant || err != nil {
		return err
	}
	signal, why, err := price(prices, r, t)
	if err != nil {
		return err
	}
	plan.bounds.Homes++
	plan.add(t, r.ID, targets, signal, why, now)
	return nil
}

// hasPlace reports whether a home has a place in the walk of a trigger that was
// accepted at a revision: once created before it, a home has one for ever. So the
// slices begin and end at the same places whoever plans them and whenever, and
// whatever was deleted or made again in between.
func hasPlace(r storage.Record, revision uint64) bool { return r.First <= revision }

// inTrigger reports whether a home that has a place existed at the revision that
// a trigger was accepted at.
func inTrigger(r storage.Record, revision uint64) bool {
	return !r.Deleted || r.Revision > revision
}

// means reports whether a home is among those that a trigger means. One that was
// deleted after the trigger has no plan any more.
func means(prices *signals.Reader, r storage.Record, t *events.Trigger) (bool, error) {
	if len(t.RatePlanIDs) == 0 {
		return true, nil
	}
	if r.Deleted {
		return false, nil
	}
	home, err := prices.Home(r)
	return err == nil && t.Means(home.RatePlanID), err
}

// price is a home's signal, or why it has none.
func price(prices *signals.Reader, r storage.Record, t *events.Trigger) (signal signals.Signal, why string, err error) {
	if r.Deleted {
		return signal, "the home was deleted after the trigger", nil
	}
	home, err := prices.Home(r)
	if err != nil {
		return signal, "", err
	}
	if !home.Enabled {
		return signal, "the home is not enabled", nil
	}
	signal, err = prices.Signal(home, t.Window())
	var unpriceable *signals.Unpriceable
	if errors.As(err, &unpriceable) {
		return signal, unpriceable.Reason, nil
	}
	return signal, "", err
}

// add plans one home: a job for each endpoint, or the outcome that it already has.
func (p *slicePlan) add(t *events.Trigger, homeID string, targets []*endpoint, signal signals.Signal, why string, now storage.Time) {
	switch {
	case why != "":
		p.settled = append(p.settled, events.Delivery{HomeID: homeID, Outcome: events.OutcomeUnpriceable, At: now, Reason: why})
	case len(targets) == 0:
		p.settled = append(p.settled, events.Delivery{
			HomeID: homeID, Outcome: events.OutcomeNoEndpoint, At: now,
			Reason: "the organization has no enabled endpoint for " + storage.EventPriceSignalUpdated,
		})
	}
	if why != "" {
		return
	}
	for _, e := range targets {
		m := newMessage(t, e.ID, signal)
		m.format = e.Format
		p.jobs = append(p.jobs, job{message: m, endpoint: e, attempt: 1, slice: p.bounds.Number})
	}
}

// dropSuperseded settles a slice's jobs without a request where a newer trigger
// has taken their place.
func (w *Worker) dropSuperseded(ctx context.Context, t *turn, plan *slicePlan) error {
	by, err := w.over(ctx, t)
	for i := range plan.jobs {
		plan.jobs[i].turn = t
	}
	if by == nil || err != nil {
		return err
	}
	for i := range plan.jobs {
		j := &plan.jobs[i]
		plan.settled = append(plan.settled, w.superseded(j.id, j.signal.HomeID, j.endpoint.ID, 0, by))
	}
	plan.jobs = nil
	return nil
}
