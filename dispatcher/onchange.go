package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// An endpoint may ask for a home's signal only if it differs from the last delivered
// signal. The known signals of an endpoint are stored per slice of homes. The worker
// forgets a home's known signal before it sends another signal, and stores the new one
// after the response. So a newer trigger sends its signal if the last delivery is
// uncertain, or still in flight. After a change of the endpoint's URL or format nothing is
// known.

// skipUnchanged removes the jobs whose endpoint already has the same signal. It returns
// the remaining jobs, the outcomes of the removed jobs, and the known signals of the
// endpoints that ask for changes.
func (w *Worker) skipUnchanged(ctx context.Context, s *events.Slice, read *sliceOfHomes, jobs []job) (left []job, outcomes []events.Delivery, have map[*target.Target]events.Known, err error) {
	have = map[*target.Target]events.Known{}
	left = jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		if j.target.DeliveryMode != storage.DeliverOnChange {
			left = append(left, *j)
			continue
		}
		known, ok := have[j.target]
		if !ok {
			if known, err = w.claim(ctx, s, read, j.target, jobs[i:]); err != nil {
				return nil, nil, nil, err
			}
			have[j.target] = known
		}
		if _, unchanged := known.Signals[j.Signal.HomeID]; !unchanged {
			left = append(left, *j)
			continue
		}
		outcomes = append(outcomes, events.Delivery{
			MessageID: j.ID, HomeID: j.Signal.HomeID, EndpointID: j.target.ID, Outcome: events.OutcomeUnchanged,
			At: storage.Time{Time: w.Store.Now()}, Reason: "the endpoint has the same signal",
		})
	}
	return left, outcomes, have, nil
}

// claim returns an endpoint's known signals of a slice, without those that the endpoint's
// jobs replace and those of homes that are in another slice by now. It forgets these.
func (w *Worker) claim(ctx context.Context, s *events.Slice, read *sliceOfHomes, e *target.Target, jobs []job) (events.Known, error) {
	return w.dropKnown(ctx, &s.Trigger, e.ID, s.Number, func(known *events.Known) {
		if receiver := e.Receiver(); known.Receiver != receiver {
			known.Receiver = receiver
			clear(known.Signals)
		}
		maps.DeleteFunc(known.Signals, func(home, _ string) bool { return !read.has(home) })
		for i := range jobs {
			if j := &jobs[i]; j.target == e && known.Signals[j.Signal.HomeID] != j.fingerprint() {
				delete(known.Signals, j.Signal.HomeID)
			}
		}
	})
}

// keepKnown stores the known signals of the endpoints that ask for changes after a
// slice's deliveries.
func (w *Worker) keepKnown(ctx context.Context, s *events.Slice, have map[*target.Target]events.Known, jobs []job, results []result) error {
	for e, known := range have {
		homes := homesOf(jobs, e)
		if len(homes) == 0 {
			continue
		}
		for i := range jobs {
			if j := &jobs[i]; j.target == e && results[i].delivery.Outcome == events.OutcomeDelivered {
				known.Signals[j.Signal.HomeID] = j.fingerprint()
			}
		}
		err := w.persistKnown(ctx, &s.Trigger, e.ID, func(ctx context.Context) error {
			_, err := w.Bus.PutKnown(ctx, s.Trigger.OrganizationID, e.ID, s.Number, known)
			if errors.Is(err, storage.ErrConflict) {
				// Another trigger's slice of the same homes was delivered at the same
				// time. The order of the two is unknown.
				return w.dropHomes(ctx, &s.Trigger, e.ID, s.Number, homes)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// persistKnown stores known signals after deliveries. A permanent error does not fail the
// slice or retry, which would repeat its deliveries. The signals then count as not known.
func (w *Worker) persistKnown(ctx context.Context, t *events.Trigger, endpointID string, store func(ctx context.Context) error) error {
	err := w.persist(ctx, store)
	if err == nil || requeues(ctx, err) {
		return err
	}
	w.Log.Error("known signals not stored", "trigger", t.ID, "org", t.OrganizationID, "endpoint", endpointID, "error", err)
	return nil
}

// fingerprint returns a text that differs for signals that differ by more than the
// endpoint's least change.
func (j *job) fingerprint() string {
	if step := j.target.MinPriceChange; step > 0 {
		return j.Signal.CoarseFingerprint(step)
	}
	return j.Signal.Fingerprint(j.Format)
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

// forget deletes the known signals of an endpoint for some homes.
func (w *Worker) forget(ctx context.Context, t *events.Trigger, endpointID string, slice int, homes []string) error {
	return w.persistKnown(ctx, t, endpointID, func(ctx context.Context) error { return w.dropHomes(ctx, t, endpointID, slice, homes) })
}

func (w *Worker) dropHomes(ctx context.Context, t *events.Trigger, endpointID string, slice int, homes []string) error {
	_, err := w.dropKnown(ctx, t, endpointID, slice, func(known *events.Known) {
		for _, home := range homes {
			delete(known.Signals, home)
		}
	})
	return err
}

// dropKnown drops known signals of an endpoint and returns the others. It repeats drop
// after a concurrent write. Errors: storage.ErrUnavailable.
func (w *Worker) dropKnown(ctx context.Context, t *events.Trigger, endpointID string, slice int, drop func(*events.Known)) (known events.Known, err error) {
	const tries = 10
	for range tries {
		if known, err = w.Bus.Known(ctx, t.OrganizationID, endpointID, slice); err != nil {
			return known, err
		}
		before := len(known.Signals)
		if drop(&known); len(known.Signals) == before {
			return known, nil
		}
		if known.Revision, err = w.Bus.PutKnown(ctx, t.OrganizationID, endpointID, slice, known); !errors.Is(err, storage.ErrConflict) {
			return known, err
		}
	}
	return known, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}
