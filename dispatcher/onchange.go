package dispatcher

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// An endpoint may ask for a home's signal only if it differs from the last delivered
// signal. The known signals of an endpoint are stored per slice of homes. If the last
// delivery of a home is uncertain, the worker deletes its known signal and sends the next
// signal. After a change of the endpoint's URL or format nothing is known.

// skipUnchanged removes the jobs whose endpoint already has the same signal. It returns
// the remaining jobs, the outcomes of the removed jobs, and the known signals of the
// endpoints that ask for changes.
func (w *Worker) skipUnchanged(ctx context.Context, s *events.Slice, jobs []job) (left []job, outcomes []events.Delivery, have map[*target.Target]events.Known, err error) {
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
			if known, err = w.Bus.Known(ctx, s.Trigger.OrganizationID, j.target.ID, s.Number); err != nil {
				return nil, nil, nil, err
			}
			if receiver := j.target.Receiver(); known.Receiver != receiver {
				known = events.Known{Receiver: receiver, Signals: map[string]string{}, Revision: known.Revision}
			}
			have[j.target] = known
		}
		if known.Signals[j.Signal.HomeID] != j.Signal.Fingerprint(j.Format) {
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

// keepKnown stores the known signals of the endpoints that ask for changes after a
// slice's deliveries.
func (w *Worker) keepKnown(ctx context.Context, s *events.Slice, have map[*target.Target]events.Known, jobs []job, results []result) error {
	for e, known := range have {
		changed := false
		for i := range jobs {
			if j := &jobs[i]; j.target == e {
				changed = note(known.Signals, j.Signal.HomeID, j.Signal.Fingerprint(j.Format), results[i].delivery.Outcome) || changed
			}
		}
		if !changed {
			continue
		}
		err := w.persist(ctx, func(ctx context.Context) error {
			return w.Bus.PutKnown(ctx, s.Trigger.OrganizationID, e.ID, s.Number, known)
		})
		if errors.Is(err, storage.ErrConflict) {
			// Another trigger's slice of the same homes was delivered at the same time.
			// The order of the two is unknown.
			err = w.forget(ctx, &s.Trigger, e.ID, s.Number, homesOf(jobs, e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note records the outcome of a home's delivery. It reports whether signals changed.
func note(signals map[string]string, home, fingerprint string, outcome events.Outcome) bool {
	had, ok := signals[home]
	if outcome == events.OutcomeDelivered {
		signals[home] = fingerprint
		return had != fingerprint
	}
	delete(signals, home)
	return ok
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
	return w.persist(ctx, func(ctx context.Context) error { return w.tryForget(ctx, t, endpointID, slice, homes) })
}

func (w *Worker) tryForget(ctx context.Context, t *events.Trigger, endpointID string, slice int, homes []string) error {
	const tries = 10
	err := storage.ErrConflict
	for range tries {
		var known events.Known
		if known, err = w.Bus.Known(ctx, t.OrganizationID, endpointID, slice); err != nil {
			return err
		}
		before := len(known.Signals)
		for _, home := range homes {
			delete(known.Signals, home)
		}
		if len(known.Signals) == before {
			return nil
		}
		if err = w.Bus.PutKnown(ctx, t.OrganizationID, endpointID, slice, known); !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return err
}
