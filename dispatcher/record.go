package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// persistTimeout is the timeout of one attempt to store retries and receipts. The attempt
// continues when the worker stops.
const persistTimeout = 30 * time.Second

func persisting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), persistTimeout)
}

// Delays between attempts to persist, before a random part of up to a half. After an outage
// of NATS, workers take no slice for longer than the last one.
const (
	firstPersistDelay = 250 * time.Millisecond
	lastPersistDelay  = time.Second
)

// persist stores the outcomes of requests. It retries while the message system is
// unavailable, until ctx ends, because a slice without its receipt is delivered again. It logs
// the first failure. Errors: the error of ctx, and permanent errors.
func (w *Worker) persist(ctx context.Context, store func(ctx context.Context) error) error {
	try := func() error {
		ctx, cancel := persisting(ctx)
		defer cancel()
		err := store(ctx)
		if errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		return backoff.Permanent(err) // nil for nil
	}
	delays := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstPersistDelay), backoff.WithMaxInterval(lastPersistDelay), backoff.WithMaxElapsedTime(0),
	)
	logged := false
	return backoff.RetryNotify(try, backoff.WithContext(delays, ctx), func(err error, _ time.Duration) {
		if !logged {
			w.Log.Warn("receipt store unavailable, retrying", "error", err)
		}
		logged = true
	})
}

// record stores the retries that are not stored yet, and then the receipt. When it returns,
// both are durable, and the worker may acknowledge the slice or retry. The given receipt has
// its key and the outcomes without a request. record adds the outcomes of the jobs. If the
// organization's history has outgrown its quota, it leaves out the responses and the content
// for replays.
func (w *Worker) record(ctx context.Context, t *events.Trigger, jobs []job, results []result, receipt events.Receipt) error {
	size, err := w.putRetries(ctx, batchRetries(t, jobs, results, everyJob)...)
	if err != nil && requeues(ctx, err) {
		return err
	}
	receipt.TriggerID, receipt.OrganizationID = t.ID, t.OrganizationID
	receipt.RetryBytes += size
	before := len(receipt.Deliveries)
	receipt.Deliveries = slices.Grow(receipt.Deliveries, len(results))
	for i := range results {
		d := results[i].delivery
		if err != nil && !results[i].dueAt.IsZero() {
			d.Outcome, d.NextAt, d.Reason = events.OutcomeFailed, storage.Time{}, fmt.Sprintf("the retry cannot be stored: %v", err)
		}
		receipt.Deliveries = append(receipt.Deliveries, d)
	}
	ofJobs := receipt.Deliveries[before:]
	w.metrics.count(ofJobs)
	receipt.RetryInputs = append(receipt.RetryInputs, inputsOfFailed(jobs, ofJobs)...)
	if w.Histories.Multiple(t.OrganizationID, w.Now()) >= events.WalksWait {
		receipt.RetryInputs = nil
		dropResponses(&receipt)
	}
	put := func(ctx context.Context) error { return w.Bus.PutReceipt(ctx, receipt) }
	if err = w.persist(ctx, put); err == nil || requeues(ctx, err) {
		return err
	}
	// The responses of many endpoints can exceed the size of a message. To fail the slice
	// would repeat its deliveries.
	w.Log.Warn("receipt not stored, storing it without responses", "trigger", t.ID, "org", t.OrganizationID, "receipt", receipt.Key, "error", err)
	dropResponses(&receipt)
	return w.persist(ctx, put)
}

func dropResponses(r *events.Receipt) {
	for i := range r.Deliveries {
		r.Deliveries[i].Response = ""
	}
}

// retryEarly stores the retries of a lane that has ended and returns their size in bytes.
// Otherwise they would wait for the slowest endpoint of the slice. After an error the caller
// of deliver stores them.
func (w *Worker) retryEarly(ctx context.Context, l *lane, jobs []job, results []result) (size int) {
	ofLane := func(i int) bool { return jobs[i].target.Gate == l.gate }
	err := events.Recovered(func() (err error) {
		size, err = w.putRetries(ctx, batchRetries(jobs[0].Trigger, jobs, results, ofLane)...)
		return err
	})
	if err != nil {
		return 0
	}
	for i := range jobs {
		if ofLane(i) {
			results[i].dueAt = time.Time{}
		}
	}
	return size
}

// putRetries persists retries and returns their size in bytes. A call that failed may have
// stored them. The redelivered message then repeats their webhooks.
func (w *Worker) putRetries(ctx context.Context, retries ...events.Retry) (size int, err error) {
	if len(retries) == 0 {
		return 0, nil
	}
	err = w.persist(ctx, func(ctx context.Context) (err error) {
		size, err = w.Bus.PutRetries(ctx, retries)
		return err
	})
	if err == nil {
		w.metrics.retriesScheduled.Add(float64(len(retries)))
	}
	return size, err
}

// inputsOfFailed returns the content of the messages that were given up, for replays. It
// returns one entry for each endpoint and format. It leaves out entries that exceed the
// size of a receipt.
func inputsOfFailed(jobs []job, deliveries []events.Delivery) []events.RetryInputs {
	type group struct {
		endpoint string
		format   storage.SignalFormat
	}
	var kept []events.RetryInputs
	for _, which := range grouped(len(jobs), func(i int) (g group, failed bool) {
		o := deliveries[i].Outcome
		return group{jobs[i].target.ID, jobs[i].Format}, o == events.OutcomeFailed || o == events.OutcomeExpired
	}) {
		if k := retryInputs(jobs, which); k.Fits(kept) {
			kept = append(kept, k)
		}
	}
	return kept
}

// retryInputs returns the content of some jobs of one endpoint and format.
func retryInputs(jobs []job, which []int) events.RetryInputs {
	first := &jobs[which[0]]
	k := events.RetryInputs{EndpointID: first.target.ID, Format: first.Format, Slice: first.place.Slice}
	places := map[*signals.Curve]int{}
	for _, i := range which {
		s := &jobs[i].Signal
		if s.Curve == nil {
			k.Homes = append(k.Homes, events.RetryHome{HomeID: s.HomeID, Targets: jobs[i].Shown})
			continue
		}
		place, ok := places[s.Curve]
		if !ok {
			place = len(k.Curves)
			places[s.Curve] = place
			k.Curves = append(k.Curves, retryCurve(s.Curve, k.Format))
		}
		k.Homes = append(k.Homes, events.RetryHome{HomeID: s.HomeID, Curve: place, Revision: s.Revision})
	}
	return k
}

// inputsOfRetry returns the content of a retry whose endpoint is gone.
func inputsOfRetry(r *events.Retry) []events.RetryInputs {
	if !r.Fits(nil) {
		return nil
	}
	return []events.RetryInputs{r.RetryInputs}
}

// maxFailures is how often a slice or a retry may fail. Then its homes are recorded as
// failed, and the message becomes a dead letter.
const maxFailures = 5

// failurePolicy sets the delays between attempts of a failed slice or retry.
var failurePolicy = storage.RetryPolicy{InitialSeconds: 1, Multiplier: 2, MaxSeconds: 30}

// sliceFailed retries a slice later, or records it as failed and continues its walk.
func (w *Worker) sliceFailed(ctx context.Context, s *events.Slice, cause error) error {
	w.metrics.failures.Inc()
	s.Failures++
	w.Log.Error("slice failed", "trigger", s.Trigger.ID, "org", s.Trigger.OrganizationID, "slice", s.Number, "failures", s.Failures, "error", cause)
	if s.Failures < maxFailures {
		return w.park(ctx, s, w.Now().Add(policy.MaxDelay(failurePolicy, s.Failures)))
	}
	homes, err := w.readHomes(s)
	if err != nil {
		return err
	}
	if err := w.enqueueNext(ctx, s, homes.ahead, true); err != nil {
		return err
	}
	receipt := events.Receipt{Key: s.Key(), Slice: &homes.bounds}
	now := storage.Time{Time: w.Store.Now()}
	for _, h := range homes.homes {
		if !maySelect(&s.Trigger, h) {
			continue
		}
		homes.bounds.Homes++
		receipt.Deliveries = append(receipt.Deliveries, events.Delivery{
			HomeID: h.ID, Outcome: events.OutcomeFailed, At: now, Reason: failedReason(cause),
		})
	}
	if err := w.putDeadLetter(ctx, "slice", &s.Trigger, s.Key(), s, cause); err != nil {
		return err
	}
	w.metrics.count(receipt.Deliveries)
	return w.record(ctx, &s.Trigger, nil, nil, receipt)
}

// maySelect reports whether a trigger selects a home, or may, because the home does not decode.
func maySelect(t *events.Trigger, r storage.Record) bool {
	if len(t.RatePlanIDs) == 0 {
		return true
	}
	home, err := storage.Decode[storage.Home](r)
	return !r.Deleted && (err != nil || t.Selects(home.RatePlanID))
}

// retryFailed repeats a retry later, or records it as failed.
func (w *Worker) retryFailed(ctx context.Context, r *events.Retry, cause error) error {
	w.metrics.failures.Inc()
	r.Failures++
	w.Log.Error("retry failed", "trigger", r.Trigger.ID, "org", r.Trigger.OrganizationID, "endpoint", r.EndpointID, "failures", r.Failures, "error", cause)
	if r.Failures < maxFailures {
		return w.postpone(ctx, *r, w.Now().Add(policy.MaxDelay(failurePolicy, r.Failures)))
	}
	if err := w.putDeadLetter(ctx, "retry", &r.Trigger, r.Key(), r, cause); err != nil {
		return err
	}
	return w.record(ctx, &r.Trigger, nil, nil, events.Receipt{Key: r.Key(), Deliveries: w.abandoned(r, failedReason(cause)), RetryInputs: inputsOfRetry(r)})
}

// failedReason returns the reason in the delivery log for a dead letter.
func failedReason(cause error) string {
	const longest = 200
	text := cause.Error()
	return fmt.Sprintf("an internal error, %d times: %s", maxFailures, text[:min(len(text), longest)])
}

// putDeadLetter stores a message that cannot be processed as a dead letter.
func (w *Worker) putDeadLetter(ctx context.Context, kind string, t *events.Trigger, key string, message any, cause error) error {
	body, err := json.Marshal(message)
	if err != nil {
		body = []byte(err.Error())
	}
	d := events.DeadLetter{
		ID: t.ID + "." + key, Kind: kind, OrganizationID: t.OrganizationID, TriggerID: t.ID, Reason: cause.Error(),
		At: storage.Time{Time: w.Now().UTC().Truncate(time.Millisecond)}, Body: body,
	}
	w.metrics.deadLetters.Inc()
	return w.persist(ctx, func(ctx context.Context) error { return w.Bus.PutDeadLetter(ctx, d) })
}
