package dispatcher

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// An endpoint may ask for a home's signal only when it is not the same as the last
// that it was delivered. What it is known to have is kept a slice of homes
// together, and is forgotten rather than guessed: a home whose last delivery is not
// certain is sent its signal.

// skipUnchanged settles the jobs whose endpoint has the same signal already, and
// returns what the endpoints that ask for changes are known to have.
func (w *Worker) skipUnchanged(ctx context.Context, t *events.Trigger, plan *slicePlan) (map[*endpoint]events.Known, error) {
	have := map[*endpoint]events.Known{}
	kept := plan.jobs[:0]
	for _, j := range plan.jobs {
		if j.endpoint.DeliveryMode != storage.DeliverOnChange {
			kept = append(kept, j)
			continue
		}
		known, ok := have[j.endpoint]
		if !ok {
			var err error
			if known, err = w.Bus.Known(ctx, t.OrganizationID, j.endpoint.ID, plan.bounds.Number); err != nil {
				return nil, err
			}
			have[j.endpoint] = known
		}
		if known.Signals[j.signal.HomeID] != j.signal.Fingerprint() {
			kept = append(kept, j)
			continue
		}
		plan.settled = append(plan.settled, events.Delivery{
			MessageID: j.id, HomeID: j.signal.HomeID, EndpointID: j.endpoint.ID, Outcome: events.OutcomeUnchanged,
			At: storage.Time{Time: w.Store.Now()}, Reason: "the endpoint has the same signal",
		})
	}
	plan.jobs = kept
	return have, nil
}

// keepKnown stores what the endpoints that ask for changes are known to have after
// a slice's deliveries.
func (w *Worker) keepKnown(ctx context.Context, t *events.Trigger, slice int, have map[*endpoint]events.Known, jobs []job, deliveries []events.Delivery) error {
	for e, known := range have {
		changed := false
		for i := range jobs {
			if j := &jobs[i]; j.endpoint == e {
				changed = note(known.Signals, j.signal.HomeID, j.signal.Fingerprint(), deliveries[i].Outcome) || changed
			}
		}
		if !changed {
			continue
		}
		err := w.hold(ctx, func(ctx context.Context) error {
			return w.Bus.PutKnown(ctx, t.OrganizationID, e.ID, slice, known)
		})
		if errors.Is(err, storage.ErrConflict) {
			// Another trigger's slice of the same homes was delivered at the
			// same time, and nobody knows which came last.
			err = w.forget(ctx, t, e.ID, slice, homesOf(jobs, e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note notes what came of a home's delivery, and reports whether that is news.
func note(signals map[string]string, home, fingerprint string, outcome events.Outcome) bool {
	had, ok := signals[home]
	if outcome == events.OutcomeDelivered {
		signals[home] = fingerprint
		return had != fingerprint
	}
	delete(signals, home)
	return ok
}

func homesOf(jobs []job, e *endpoint) []string {
	var homes []string
	for i := range jobs {
		if jobs[i].endpoint == e {
			homes = append(homes, jobs[i].signal.HomeID)
		}
	}
	return homes
}

// forget forgets what an endpoint has of some homes.
func (w *Worker) forget(ctx context.Context, t *events.Trigger, endpointID string, slice int, homes []string) error {
	return w.hold(ctx, func(ctx context.Context) error { return w.tryForget(ctx, t, endpointID, slice, homes) })
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
