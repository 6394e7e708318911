package dispatcher

import (
	"context"
	"maps"

	"github.com/gridhook/gridhook/dispatcher/known"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// supersede returns the jobs of a slice that no newer trigger supersedes, and the outcomes
// of the superseded jobs. All homes of a slice on the same rate plan have the same answer.
func (w *Worker) supersede(jobs []job) (left []job, outcomes []events.Delivery) {
	if len(jobs) == 0 || !jobs[0].Signals() { // a slice of notifications has only notifications
		return jobs, nil
	}
	newer := map[string]string{} // by rate plan
	left = jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		by, asked := newer[j.Signal.RatePlanID]
		if !asked {
			by = w.supersededBy(j)
			newer[j.Signal.RatePlanID] = by
		}
		if by == "" {
			left = keep(left, jobs, i)
		} else {
			outcomes = append(outcomes, j.superseded(by, w.Store.Now()))
		}
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

// knownSignals holds the known signals of a slice, by the endpoints that ask for changes.
type knownSignals map[*target.Target]events.Known

// skipUnchanged returns the jobs whose endpoint does not have the same signal, the
// outcomes of the others, and the signals that the endpoints know apart from these jobs.
func (w *Worker) skipUnchanged(ctx context.Context, s *events.Slice, read *sliceOfHomes, jobs []job) (left []job, outcomes []events.Delivery, have knownSignals, err error) {
	have = knownSignals{}
	left = jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		if j.target.DeliveryMode != storage.DeliverOnChange {
			left = keep(left, jobs, i)
			continue
		}
		signals, ok := have[j.target]
		if !ok {
			if signals, err = w.claim(ctx, s, read, j.target, jobs[i:]); err != nil {
				return nil, nil, nil, err
			}
			have[j.target] = signals
		}
		if _, unchanged := signals.Signals[j.Signal.HomeID]; !unchanged {
			left = keep(left, jobs, i)
			continue
		}
		outcomes = append(outcomes, events.Delivery{
			MessageID: j.ID, HomeID: j.Signal.HomeID, EndpointID: j.target.ID, Outcome: events.OutcomeUnchanged,
			At: storage.Time{Time: w.Store.Now()}, Reason: "the endpoint has the same signal",
		})
	}
	return left, outcomes, have, nil
}

// claim returns an endpoint's known signals of a slice. It drops the signals that the
// endpoint's jobs replace, and the signals of homes that have moved to another slice.
func (w *Worker) claim(ctx context.Context, s *events.Slice, read *sliceOfHomes, e *target.Target, jobs []job) (events.Known, error) {
	return known.Drop(ctx, w.Bus, knownAt(&s.Trigger, e, s.Number), func(k *events.Known) {
		if receiver := e.Receiver(); k.Receiver != receiver {
			k.Receiver = receiver
			clear(k.Signals)
		}
		maps.DeleteFunc(k.Signals, func(home, _ string) bool { return !read.has(home) })
		for i := range jobs {
			if j := &jobs[i]; j.target == e && k.Signals[j.Signal.HomeID] != j.fingerprint() {
				delete(k.Signals, j.Signal.HomeID)
			}
		}
	})
}

func knownAt(t *events.Trigger, e *target.Target, slice int) known.Place {
	return known.Place{OrganizationID: t.OrganizationID, EndpointID: e.ID, Slice: slice}
}

// fingerprint returns a text that differs for signals that differ by more than the
// endpoint's least change.
func (j *job) fingerprint() string {
	if step := j.target.MinPriceChange; step > 0 {
		return j.Signal.CoarseFingerprint(step)
	}
	return j.Signal.Fingerprint(j.Format)
}
