package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/walks"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// handleRetry makes the due attempt. Errors: as for handleSlice.
func (w *Worker) handleRetry(ctx context.Context, r events.Retry, taken events.Taken) error {
	r.Trigger.Sequence = r.Sequence
	err := events.Recovered(func() error { return w.retry(ctx, &r, taken) })
	if err == nil || requeues(ctx, err) {
		return err
	}
	return w.retryFailed(ctx, &r, err)
}

// retry performs the steps of a retry.
func (w *Worker) retry(ctx context.Context, r *events.Retry, taken events.Taken) error {
	if r.Walk != nil {
		r.Walk.Resumed = true // a worker that died may have put it back on the queue before
		r.Walk.ClockLag = w.clockLag(r)
		return w.Bus.PutSlice(ctx, *r.Walk)
	}
	t := &r.Trigger
	to, gone, refused, err := w.awaitRecipient(ctx, r, taken)
	if err != nil {
		return err
	}
	// The retry may be there twice: a publish without an acknowledgement is repeated.
	if done, err := w.Bus.HasReceipt(ctx, t.OrganizationID, t.ID, r.Key()); done || err != nil {
		return err
	}
	receipt := events.Receipt{Key: r.Key()}
	if gone != "" {
		receipt.Deliveries, receipt.RetryInputs = w.abandoned(r, gone), inputsOfRetry(r)
		return w.record(ctx, t, nil, nil, receipt)
	}
	jobs, err := retryJobs(r, to)
	if err != nil {
		return err
	}
	jobs, receipt.Deliveries = w.supersede(jobs, nil)
	if len(jobs) > 0 {
		if until := w.retryAfter(r, to, refused); !until.IsZero() {
			return w.postpone(ctx, *r, until)
		}
	}
	w.metrics.count(receipt.Deliveries)
	watch := w.gate.Watch(taken.Free)
	defer watch.End()
	results, _ := w.deliver(ctx, jobs, nil, watch) // to one endpoint, so nothing is stored yet
	if to.DeliveryMode == storage.DeliverOnChange && len(jobs) > 0 {
		// A newer signal may have arrived before this signal.
		if err := w.forgetKnown(ctx, r, to, jobs); err != nil {
			return err
		}
	}
	return w.record(ctx, t, jobs, results, receipt)
}

// awaitRecipient waits in memory while the endpoint of a retry has no capacity, as admit does
// for slices, but not beyond the retry's deadline. The endpoint may respond as slowly as its
// timeout allows: a postponed retry returns less and less often, and the endpoint would be
// idle meanwhile. It returns the results of recipient. refused reports whether the retry may
// not wait. Otherwise the endpoint's capacity is not looked at again: with a slice that
// turned slow meanwhile, the retry would be postponed although it has waited.
func (w *Worker) awaitRecipient(ctx context.Context, r *events.Retry, taken events.Taken) (to *target.Target, gone string, refused bool, err error) {
	for {
		if to, gone, err = w.recipient(&r.Trigger, r.EndpointID); err != nil || gone != "" || refused || !to.Gate.Full() {
			return to, gone, refused, err
		}
		waiting, cancel := context.WithTimeout(ctx, deadline(&r.Trigger, to.RetryPolicy, r.Attempt).Sub(w.Now()))
		refused = !w.gate.AwaitCapacity(waiting, gate.Wait{
			Endpoints: []*gate.Endpoint{to.Gate}, Free: taken.Free, Size: taken.Size,
			Patience: gate.ParkAfter + time.Duration(to.TimeoutSeconds*float64(time.Second)),
		})
		cancel()
		switch {
		case ctx.Err() != nil:
			return to, "", refused, ctx.Err()
		case refused && w.gate.Closed(): // another worker takes it at once
			return to, "", refused, context.Canceled
		}
	}
}

// retryAfter returns the time until which the endpoint of a retry is down, or the retry may not
// wait for it, or its organization has no room for outcomes. It returns zero if the attempt may
// be made, or the retry's deadline has passed. Each callback has its own message, each slice has
// one for an endpoint that is slow beside others, and an organization without room has very
// many. So they return less and less often.
func (w *Worker) retryAfter(r *events.Retry, to *target.Target, refused bool) time.Time {
	now, end := w.Now(), deadline(&r.Trigger, to.RetryPolicy, r.Attempt)
	if to.Gate.Failing(now) {
		end = r.Trigger.Deadline(to.RetryPolicy)
	}
	until := to.Gate.OpenUntil(now)
	if refused {
		until = storage.Later(until, now.Add(gate.ParkAfter))
	}
	noRoom := w.noRoomUntil(&r.Trigger, events.RetriesWait, end)
	until = storage.Later(until, noRoom)
	if until.IsZero() || !now.Before(end) {
		return time.Time{}
	}
	until = w.staggered(until)
	if r.Trigger.Change != nil || refused || !noRoom.IsZero() {
		delay := policy.MaxDelay(to.RetryPolicy, r.Attempt+r.Round)
		until = storage.Later(until, now.Add(time.Duration(w.Jitter()*float64(delay))))
	}
	return storage.Earlier(until, end) // at the end it is given up
}

// recipient returns the endpoint of a retry or a notice. gone is the reason if there is no
// usable endpoint.
func (w *Worker) recipient(t *events.Trigger, endpointID string) (to *target.Target, gone string, err error) {
	err = w.view(func(v storage.View) (err error) {
		to, err = w.targets.Get(v, t.OrganizationID, endpointID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			gone, err = reasonDeleted, nil
		case errors.Is(err, target.ErrBroken):
			w.Log.Error("endpoint record invalid", "org", t.OrganizationID, "endpoint", endpointID, "error", err)
			gone, err = fmt.Sprintf("the stored endpoint %q cannot be used: update it, or delete it and create it again", endpointID), nil
		case err == nil && !to.Enabled:
			gone = reasonPaused
		case err == nil && t.Change != nil:
			gone, err = w.revoked(v, t.OrganizationID, endpointID)
		}
		return err
	})
	return to, gone, err
}

// revoked returns the reason if the client of a callback receives no more notifications.
func (w *Worker) revoked(v storage.View, org, endpointID string) (gone string, err error) {
	record, err := storage.FindEndpoint(v, org, endpointID)
	if err != nil {
		return "", err
	}
	subscription, err := storage.Decode[storage.OpenADRObject](record)
	if err != nil {
		return "", err
	}
	clients := subscribers{view: v, org: org, now: w.Now(), known: map[string]*events.Subscriber{}}
	client, err := clients.of(subscription.ClientID)
	if client == nil && err == nil {
		gone = "the key of the subscription's client was revoked or has expired"
	}
	return gone, err
}

// postpone schedules an unchanged retry for a later time, under another key.
func (w *Worker) postpone(ctx context.Context, r events.Retry, until time.Time) error {
	r.Round++
	r.DueAt = storage.Time{Time: until.Add(w.clockLag(&r)).UTC()}
	_, err := w.putRetries(ctx, r)
	return err
}

// clockLag returns how far this worker's clock is behind the clock of NATS, as far as a due
// retry shows it. Without it, work that is postponed by a slow clock would be due at once,
// again and again.
func (w *Worker) clockLag(r *events.Retry) time.Duration { return max(0, r.DueAt.Sub(w.Now())) }

// retryJobs recreates the same messages from the content of the retry.
func retryJobs(r *events.Retry, to *target.Target) ([]job, error) {
	curves := make([]*signals.Curve, len(r.Curves))
	for i := range r.Curves {
		var err error
		if curves[i], err = r.Curves[i].Curve(r.Trigger.Window()); err != nil {
			return nil, err
		}
	}
	jobs := make([]job, len(r.Homes))
	for i := range r.Homes {
		m, err := retryMessage(r, to, &r.Homes[i], curves)
		if err != nil {
			return nil, err
		}
		jobs[i] = job{
			Message: m, target: to, attempt: r.Attempt, round: r.Round, place: walks.Place{Trigger: &r.Trigger, Slice: r.Slice, Late: true},
		}
	}
	return jobs, nil
}

// retryMessage recreates the message of a home. A notification has no curve.
func retryMessage(r *events.Retry, to *target.Target, h *events.RetryHome, curves []*signals.Curve) (webhook.Message, error) {
	switch {
	case r.Trigger.Change != nil:
		return webhook.NewNotification(&r.Trigger, h.HomeID, to.ID, h.Targets), nil
	case h.Curve < 0 || h.Curve >= len(curves):
		return webhook.Message{}, fmt.Errorf("home %q of the retry refers to curve %d of %d", h.HomeID, h.Curve, len(curves))
	}
	signal := signals.Signal{HomeID: h.HomeID, Curve: curves[h.Curve], Revision: h.Revision}
	return webhook.NewMessage(&r.Trigger, to.ID, signal, r.Format), nil
}

// abandoned returns the outcomes of a retry without a usable endpoint.
func (w *Worker) abandoned(r *events.Retry, why string) []events.Delivery {
	list := make([]events.Delivery, len(r.Homes))
	for i, h := range r.Homes {
		list[i] = events.Delivery{
			HomeID: h.HomeID, EndpointID: r.EndpointID,
			Outcome: events.OutcomeFailed, Attempt: r.Attempt - 1, At: storage.Time{Time: w.Store.Now()}, Reason: why,
		}
	}
	w.metrics.count(list)
	return list
}

// batchRetries groups the failed deliveries of some jobs into retry messages. It uses the
// largest group that applies:
//
//   - If the endpoint is down, or failed for every home of the slice, all homes with
//     the same next attempt share one message.
//   - Homes of one failed batch share one message.
//   - Other homes share a message if they are due in the same part of the delay.
//
// batchRetries sets the due time of each delivery in results.
func batchRetries(t *events.Trigger, jobs []job, results []result, of func(i int) bool) (retries []events.Retry) {
	type group struct {
		endpoint          string
		attempt, together int
		part              int64
	}
	partial := map[string]bool{} // endpoints that did not fail for every home
	for i := range jobs {
		if of(i) && results[i].dueAt.IsZero() {
			partial[jobs[i].target.ID] = true
		}
	}
	groups := grouped(len(jobs), func(i int) (g group, failed bool) {
		to, r := jobs[i].target, &results[i]
		if !of(i) || r.dueAt.IsZero() {
			return g, false
		}
		g.endpoint, g.attempt = to.ID, r.nextAttempt
		switch _, _, open := to.Gate.Standing(); {
		case open || !partial[to.ID]:
		case r.together > 0:
			g.together = r.together
		default:
			g.part = r.dueAt.UnixNano() / int64(delayPart(to.RetryPolicy, r.nextAttempt-1))
		}
		return g, true
	})
	for _, which := range groups {
		for _, part := range fitting(jobs, which) {
			retries = append(retries, newRetry(t, jobs, results, part))
		}
	}
	return retries
}

func everyJob(int) bool { return true }

// delayParts is the number of parts of the longest delay for homes that failed
// separately. A slice with mostly failed homes then has about ten retries, not one for
// each home. The cost of a retry is its message, not its homes. A worker may die between
// storing the retries and the receipt. The repeated slice may group its retries
// differently, and both groups then try the same homes.
const delayParts = 8

// delayPart returns the length of one part of the longest delay after a number of failed
// attempts. It is at least a second, because PutRetries rounds up to whole seconds.
func delayPart(p storage.RetryPolicy, failed int) time.Duration {
	return max(policy.MaxDelay(p, max(1, failed))/delayParts, time.Second)
}

// maxRetryIntervals limits the curves of one retry, so that the retry fits into a message of
// NATS. An interval takes 130 bytes at most: 85 for the price and 45 for the emissions.
const maxRetryIntervals = 32_000

// fitting divides a group of jobs into parts whose curves have at most maxRetryIntervals, or
// that have a single curve.
func fitting(jobs []job, which []int) (parts [][]int) {
	seen, intervals, from := map[*signals.Curve]bool{}, 0, 0
	for at, i := range which {
		c := jobs[i].Signal.Curve
		if c == nil || seen[c] { // a notification has no curve
			continue
		}
		if intervals += c.Len(); intervals > maxRetryIntervals && at > from {
			parts, from, intervals = append(parts, which[from:at]), at, c.Len()
			clear(seen)
		}
		seen[c] = true
	}
	return append(parts, which[from:])
}

// newRetry makes one retry of some jobs of one endpoint.
func newRetry(t *events.Trigger, jobs []job, results []result, which []int) events.Retry {
	r := events.Retry{
		Trigger: *t, Sequence: t.Sequence, RetryInputs: retryInputs(jobs, which), Attempt: results[which[0]].nextAttempt,
		Round: jobs[which[0]].round + 1, DueAt: storage.Time{Time: dueTogether(results, which).UTC()},
	}
	for _, i := range which {
		results[i].delivery.NextAt = r.DueAt
	}
	return r
}

// dueTogether returns the due time of a group: the due time of its last job. The longest
// of many random delays would be near the policy's maximum each time, and all slices that
// failed together would return together. A Retry-After of any job applies to the group.
func dueTogether(results []result, which []int) time.Time {
	due := results[which[len(which)-1]].dueAt
	for _, i := range which {
		due = storage.Later(due, results[i].notBefore)
	}
	return due
}

// retryCurve returns the parts of a curve that a message in the format needs.
func retryCurve(c *signals.Curve, format storage.SignalFormat) events.RetryCurve {
	r := events.RetryCurve{RatePlanID: c.RatePlanID, Runs: c.Runs(), ExportCompensation: c.ExportCompensation, ImportSource: c.ImportSource}
	if format == storage.FormatOpenADR3 {
		r.Emissions = events.EmissionRuns(c.Emissions())
	}
	return r
}
