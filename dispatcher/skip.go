package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// supersede returns the jobs of a slice that no newer trigger supersedes. It adds the outcomes
// of the superseded jobs.
func (w *Worker) supersede(jobs []job, outcomes []events.Delivery) ([]job, []events.Delivery) {
	now, left := w.Store.Now(), jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		by := w.supersededBy(j)
		if by == "" {
			left = keep(left, jobs, i)
			continue
		}
		if len(outcomes) == cap(outcomes) { // most slices are superseded as a whole, or not at all
			outcomes = slices.Grow(outcomes, len(jobs)-i)
		}
		outcomes = append(outcomes, j.superseded(by, now))
	}
	return left, outcomes
}

// keep appends all[i] to left, which holds some of the jobs before it in the same memory. It
// moves no job before the first one is left out.
func keep(left, all []job, i int) []job {
	if len(left) == i {
		return all[:i+1]
	}
	return append(left, all[i])
}

// An endpoint may ask for a home's signal only if it differs from the last delivered one.
// Its known signals are stored per slice of homes. The worker drops a home's known signal
// before it sends another signal, and keeps the new one after the response. So a newer
// trigger sends its signal if the last delivery is uncertain, or still in flight. After a
// change of the endpoint nothing is known.

// knownSignals holds the known signals of a slice, by the endpoints that ask for changes.
type knownSignals map[*target.Target]events.Known

// skipUnchanged returns the jobs whose endpoint does not have the same signal, and the
// signals that the endpoints know apart from these jobs. It adds the outcomes of the others.
func (w *Worker) skipUnchanged(
	ctx context.Context, s *events.Slice, read *sliceOfHomes, jobs []job, outcomes []events.Delivery,
) ([]job, []events.Delivery, knownSignals, error) {
	have := knownSignals{}
	left := jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		if j.target.DeliveryMode != storage.DeliverOnChange {
			left = keep(left, jobs, i)
			continue
		}
		signals, ok := have[j.target]
		if !ok {
			var err error
			if signals, err = w.claim(ctx, s, read, j.target, jobs[i:]); err != nil {
				return nil, nil, nil, err
			}
			have[j.target] = signals
		}
		if _, unchanged := signals.Signals[j.Signal.HomeID]; !unchanged {
			left = keep(left, jobs, i)
			continue
		}
		outcomes = append(outcomes, j.skipped(events.OutcomeUnchanged, "the endpoint has the same signal", w.Store.Now()))
	}
	return left, outcomes, have, nil
}

// claim returns an endpoint's known signals of a slice. It drops the signals that the
// endpoint's jobs replace, and the signals of homes that have moved to another slice. If any
// job is to be sent, it writes even without a change. So an older slice in flight cannot
// store its signals beside this one.
func (w *Worker) claim(ctx context.Context, s *events.Slice, read *sliceOfHomes, e *target.Target, jobs []job) (events.Known, error) {
	return w.dropKnown(ctx, knownAt(&s.Trigger, e, s.Number), func(k *events.Known) (sends bool) {
		if receiver := e.Receiver(); k.Receiver != receiver {
			k.Receiver = receiver
			clear(k.Signals)
		}
		maps.DeleteFunc(k.Signals, func(home, _ string) bool { return !read.has(home) })
		for i := range jobs {
			if j := &jobs[i]; j.target == e && k.Signals[j.Signal.HomeID] != j.fingerprint() {
				delete(k.Signals, j.Signal.HomeID)
				sends = true
			}
		}
		return sends
	})
}

// knownPlace identifies the known signals of an endpoint and a slice of homes.
type knownPlace struct {
	org, endpointID string
	slice           int
}

func knownAt(t *events.Trigger, e *target.Target, slice int) knownPlace {
	return knownPlace{org: t.OrganizationID, endpointID: e.ID, slice: slice}
}

// fingerprint returns a text that differs for signals that differ by more than the
// endpoint's least change.
func (j *job) fingerprint() string {
	if step := j.target.MinPriceChange; step > 0 {
		return j.Signal.CoarseFingerprint(step)
	}
	return j.Signal.Fingerprint(j.Format)
}

// keepKnown stores the known signals of the endpoints that ask for changes, with those
// that were delivered. If it fails, they are not known: claim has dropped them. So a slice
// does not hold its slot until they can be stored. After a concurrent write it forgets the
// homes: another trigger's slice was delivered at the same time, and the order of the two is
// unknown.
func (w *Worker) keepKnown(ctx context.Context, s *events.Slice, have knownSignals, jobs []job, results []result) {
	ctx, cancel := persisting(ctx)
	defer cancel()
	for e, signals := range have {
		homes := homesOf(jobs, e)
		if len(homes) == 0 {
			continue
		}
		for i := range jobs {
			if j := &jobs[i]; j.target == e && results[i].delivery.Outcome == events.OutcomeDelivered {
				signals.Signals[j.Signal.HomeID] = j.fingerprint()
			}
		}
		at := knownAt(&s.Trigger, e, s.Number)
		_, err := w.Bus.PutKnown(ctx, at.org, at.endpointID, at.slice, signals)
		if errors.Is(err, storage.ErrConflict) {
			err = w.forgetHomes(ctx, at, homes)
		}
		if err != nil {
			w.reportKnown(at, err)
		}
	}
}

// forgetKnown drops the known signals of an endpoint for the homes of its jobs. A permanent
// error does not fail the retry, which would repeat its deliveries.
func (w *Worker) forgetKnown(ctx context.Context, r *events.Retry, e *target.Target, jobs []job) error {
	at := knownAt(&r.Trigger, e, r.Slice)
	err := w.persist(ctx, func(ctx context.Context) error { return w.forgetHomes(ctx, at, homesOf(jobs, e)) })
	if err == nil || requeues(ctx, err) {
		return err
	}
	w.reportKnown(at, err)
	return nil
}

func (w *Worker) reportKnown(at knownPlace, err error) {
	w.Log.Error("known signals not stored", "org", at.org, "endpoint", at.endpointID, "slice", at.slice, "error", err)
}

func homesOf(jobs []job, e *target.Target) []string {
	var homes []string
	for i := range jobs {
		if jobs[i].target == e {
			homes = append(homes, jobs[i].Signal.HomeID)
		}
	}
	return homes
}

// dropKnown drops known signals and returns the others. It writes them if drop dropped any
// or returns true, and repeats drop after a concurrent write. Errors: storage.ErrUnavailable,
// and the error of the write if signals were dropped.
func (w *Worker) dropKnown(ctx context.Context, at knownPlace, drop func(*events.Known) bool) (known events.Known, err error) {
	const tries = 10
	for range tries {
		if known, err = w.Bus.Known(ctx, at.org, at.endpointID, at.slice); err != nil {
			return known, err
		}
		before := len(known.Signals)
		if sends := drop(&known); !sends && len(known.Signals) == before {
			return known, nil
		}
		known.Revision, err = w.Bus.PutKnown(ctx, at.org, at.endpointID, at.slice, known)
		switch {
		case errors.Is(err, storage.ErrConflict):
		case err != nil && len(known.Signals) == before && !errors.Is(err, storage.ErrUnavailable):
			return known, nil // nothing was to be stored
		default:
			return known, err
		}
	}
	return known, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}

// forgetHomes drops the known signals of some homes. It writes even if none is known. So
// another slice in flight cannot store its signals of these homes afterwards.
func (w *Worker) forgetHomes(ctx context.Context, at knownPlace, homes []string) error {
	_, err := w.dropKnown(ctx, at, func(known *events.Known) bool {
		for _, home := range homes {
			delete(known.Signals, home)
		}
		return true
	})
	return err
}
