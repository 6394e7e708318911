package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// result is the outcome of one job.
type result struct {
	delivery events.Delivery
	// dueAt is the due time of a RETRYING delivery whose retry is not stored yet, otherwise
	// zero. nextAttempt is the number of the next attempt.
	dueAt       time.Time
	nextAttempt int
	// notBefore is the time that the endpoint requested, zero without a request.
	notBefore time.Time
	// together is the number of the job's batch, from 1. It is 0 for a single job.
	together int
}

// deadline returns the time after which no attempt is made. The endpoint's policy limits
// only retries, and the wait for an endpoint that is down: see reschedule. So the first
// attempt at an endpoint that responds is given up only at the end of the signal's
// window, or after a day.
func (j *job) deadline() time.Time { return deadline(j.Trigger, j.target.RetryPolicy, j.attempt) }

func deadline(t *events.Trigger, p storage.RetryPolicy, attempt int) time.Time {
	if attempt == 1 {
		p.GiveUpSeconds = events.LongestRetry.Seconds()
	}
	return t.Deadline(p)
}

// byGate divides jobs by their endpoints, or by the servers of callbacks.
func byGate(jobs []job) [][]int {
	return grouped(len(jobs), func(i int) (*gate.Endpoint, bool) { return jobs[i].target.Gate, true })
}

// grouped divides the numbers below n into groups with equal keys. A number without ok is in
// no group. Groups are in the order of their first numbers.
func grouped[K comparable](n int, key func(i int) (k K, ok bool)) (groups [][]int) {
	place := map[K]int{}
	for i := range n {
		k, ok := key(i)
		if !ok {
			continue
		}
		at, known := place[k]
		if !known {
			at = len(groups)
			place[k], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// conclude converts an attempt at an endpoint into an outcome. After a wait the endpoint may
// differ from the job's.
func (w *Worker) conclude(ctx context.Context, e *target.Target, j *job, a attempt) result {
	switch verdict := a.Verdict(); {
	case verdict == policy.Delivered:
		a.Response = ""
		return j.ended(&a, j.attempt, events.OutcomeDelivered, "")
	case verdict == policy.Gone && a.single:
		return j.ended(&a, j.attempt, events.OutcomeFailed, "the endpoint responded 410 Gone for this home")
	case verdict == policy.Gone && w.disable(ctx, e):
		return j.ended(&a, j.attempt, events.OutcomeFailed, "the endpoint responded 410 Gone and was disabled")
	}
	return w.retryLater(j, a)
}

// retryLater schedules the next attempt, or gives up if the deadline comes first.
func (w *Worker) retryLater(j *job, a attempt) result {
	p, now := j.target.RetryPolicy, w.Now()
	deadline := j.Trigger.Deadline(p)
	due, ok := policy.Next(p, j.attempt, now, deadline, a.RetryAfter, w.Jitter())
	if !ok {
		r := j.givenUp(&a, j.attempt, deadline, "")
		if a.RetryAfter > 0 && now.Add(min(a.RetryAfter, policy.MaxRetryAfter)).After(deadline) {
			r.delivery.Reason += ", and asked to wait beyond the deadline of this signal"
		}
		return r
	}
	r := j.postponed(&a, j.attempt+1, due, "")
	if a.RetryAfter > 0 {
		r.notBefore = now.Add(min(a.RetryAfter, policy.MaxRetryAfter))
	}
	return r
}

// givenUp returns the outcome if no attempt can come before the deadline: EXPIRED if the
// signal's window sets the deadline, FAILED if the policy does. Without a reason it has the
// attempt's own.
func (j *job) givenUp(a *attempt, attempts int, deadline time.Time, reason string) result {
	outcome := events.OutcomeFailed
	if deadline.Equal(j.Trigger.End.Time) {
		outcome = events.OutcomeExpired
	}
	return j.ended(a, attempts, outcome, reason)
}

// reschedule postpones a job until its endpoint may be available. The endpoint's policy
// limits the wait for an endpoint that is down, also before the first attempt. It does
// not limit the wait for an endpoint that is slow.
func (w *Worker) reschedule(j *job, until time.Time) result {
	now, deadline, reason := w.Now(), j.deadline(), "the endpoint is slow"
	switch g := j.target.Gate; {
	case g.Failing(now):
		deadline, reason = j.Trigger.Deadline(j.target.RetryPolicy), "the endpoint is down"
	case !g.OpenUntil(now).IsZero():
		reason = "the endpoint asked to wait"
	}
	a := unsent(now)
	if !now.Before(deadline) {
		return j.givenUp(&a, j.attempt-1, deadline, reason+", and the deadline has passed")
	}
	until = storage.Earlier(w.staggered(until), deadline) // at the deadline it is given up
	return j.postponed(&a, j.attempt, until, reason+", no attempt was made")
}

// requeue schedules a job at once for another worker. a is the attempt that the worker's
// stop cut off, or no attempt. The stop is no failure of the endpoint, so the job keeps
// the number of its attempt.
func (w *Worker) requeue(j *job, a attempt) result {
	return j.postponed(&a, j.attempt, w.Now(), cmp.Or(a.Reason(), "requeued because the worker was stopping"))
}

// Reasons of deliveries to an endpoint that receives nothing any more.
const (
	reasonPaused  = "the endpoint is disabled"
	reasonDeleted = "the endpoint was deleted"
)

// supersededBy returns the identifier of the newer trigger that supersedes a job, "" if there is
// none. A trigger for some rate plans does not reach a home that has left them since its signal
// was priced, so the home's plan is read again.
func (w *Worker) supersededBy(j *job) string {
	if !j.Signals() {
		return ""
	}
	now, plan := w.Now(), j.Signal.RatePlanID
	newer, ok := w.walks.SupersededBy(j.place, now, plan)
	if !ok || len(newer.RatePlanIDs) == 0 {
		return newer.ID
	}
	home, err := storage.Get[storage.Home](w.Store, storage.KindHome.Ref(j.Trigger.OrganizationID, j.Signal.HomeID))
	if err == nil {
		newer, _ = w.walks.SupersededBy(j.place, now, plan, home.RatePlanID)
	}
	return newer.ID
}

// superseded returns the outcome of a job that a newer trigger supersedes.
func (j *job) superseded(by string, now time.Time) events.Delivery {
	return j.skipped(events.OutcomeSuperseded, "superseded by the newer trigger "+by, now)
}

// skipped returns the outcome of a job that ends without another request.
func (j *job) skipped(outcome events.Outcome, reason string, now time.Time) events.Delivery {
	return events.Delivery{
		HomeID: j.Signal.HomeID, EndpointID: j.target.ID, Outcome: outcome, Attempt: j.attempt - 1, At: storage.Time{Time: now}, Reason: reason,
	}
}

// unsent returns an attempt without a request.
func unsent(now time.Time) attempt { return attempt{Attempt: send.Attempt{At: now}} }

// ended returns the result of a job that has no next attempt.
func (j *job) ended(a *attempt, attempts int, outcome events.Outcome, reason string) result {
	return result{delivery: j.delivery(a, attempts, outcome, reason)}
}

// postponed returns the result of a job whose attempt with the number next is due at a time.
func (j *job) postponed(a *attempt, next int, due time.Time, reason string) result {
	d := j.delivery(a, next-1, events.OutcomeRetrying, reason)
	d.NextAt = storage.Time{Time: due.UTC()}
	return result{delivery: d, dueAt: due, nextAttempt: next}
}

// delivery describes an attempt and its outcome. Without a reason it has the attempt's own.
func (j *job) delivery(a *attempt, attempts int, outcome events.Outcome, reason string) events.Delivery {
	d := events.Delivery{HomeID: j.Signal.HomeID, EndpointID: j.target.ID, Outcome: outcome, Attempt: attempts, BatchID: a.batchID}
	a.Describe(&d)
	d.Reason = cmp.Or(reason, d.Reason)
	return d
}

// disable disables an endpoint that responded 410 Gone. It returns false if the endpoint has
// moved to another URL, or cannot be disabled now.
func (w *Worker) disable(ctx context.Context, e *target.Target) (disabled bool) {
	ctx, cancel := persisting(ctx)
	defer cancel()
	moved := false
	err := storage.UpdateEndpoint(ctx, w.Store, e.OrganizationID, e.ID, func(stored *storage.WebhookEndpoint) error {
		if moved = stored.URL != e.URL || stored.SealedURL != e.SealedURL; moved || !stored.Enabled {
			return errAlready
		}
		stored.Disable(storage.DisabledGone, "it responded 410 Gone", w.Store.Now())
		return nil
	})
	switch {
	case err == nil:
		w.Log.Warn("endpoint responded 410 Gone, disabled", "org", e.OrganizationID, "endpoint", e.ID)
	case !errors.Is(err, errAlready):
		w.Log.Error("endpoint responded 410 Gone but cannot be disabled", "org", e.OrganizationID, "endpoint", e.ID, "error", err)
	}
	return !moved && (err == nil || errors.Is(err, errAlready))
}

var errAlready = errors.New("already so")
