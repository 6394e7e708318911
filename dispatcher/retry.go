package dispatcher

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// groupRetries makes the retries of what failed, at the coarsest unit that is
// true: homes that failed one by one wait with those whose own jitter has put them in
// the same part of the pause, and those of one batch together; where an endpoint is
// down, or every home of the slice failed at it, those with the same attempt due wait
// together as one message. The results then say when each is due.
func groupRetries(t *events.Trigger, jobs []job, results []result) []events.Retry {
	type tally struct {
		endpoint *endpoint
		jobs     int
		failed   []int
	}
	var order []*tally
	byEndpoint := map[string]*tally{}
	for i := range jobs {
		e := jobs[i].endpoint
		c := byEndpoint[e.ID]
		if c == nil {
			c = &tally{endpoint: e}
			byEndpoint[e.ID] = c
			order = append(order, c)
		}
		c.jobs++
		if !results[i].dueAt.IsZero() {
			c.failed = append(c.failed, i)
		}
	}
	var retries []events.Retry
	for _, c := range order {
		if len(c.failed) == 0 {
			continue
		}
		whole := len(c.failed) == c.jobs || c.endpoint.breaker.open()
		part := pausePart(c.endpoint.RetryPolicy, results[c.failed[0]].nextAttempt-1)
		for _, together := range inCompany(results, c.failed, whole, part) {
			retries = append(retries, newRetry(t, jobs, results, together))
		}
	}
	return retries
}

// pauseParts is how many parts the longest pause has for homes that failed one by one.
// A slice of which most homes failed then has some ten retries in place of one each:
// what is stored, comes due and is settled is the message. A worker that dies between
// storing the retries and the receipt leaves them to a slice that is done again, whose
// own may be in other company: then homes of that slice are tried by both.
const pauseParts = 8

// pausePart is how long a part of the longest pause is after a number of failed
// attempts. What is due within a second is due together in any case: PutRetries rounds up.
func pausePart(policy storage.RetryPolicy, failed int) time.Duration {
	return max(ceiling(policy, max(1, failed))/pauseParts, time.Second)
}

// inCompany splits what failed at an endpoint into what waits together: all with the
// same attempt due where the whole of it failed, and otherwise what one request was
// for, or what is due in the same part of the pause, which is that long.
func inCompany(results []result, which []int, whole bool, part time.Duration) [][]int {
	type company struct {
		attempt, bundle int
		part            int64
	}
	var groups [][]int
	place := map[company]int{}
	for _, i := range which {
		c := company{attempt: results[i].nextAttempt}
		switch {
		case whole:
		case results[i].bundle > 0:
			c.bundle = results[i].bundle
		default:
			c.part = results[i].dueAt.UnixNano() / int64(part)
		}
		g, ok := place[c]
		if !ok {
			g = len(groups)
			place[c] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// newRetry makes one retry of some of the jobs, all of one endpoint.
func newRetry(t *events.Trigger, jobs []job, results []result, which []int) events.Retry {
	r := events.Retry{
		Trigger: *t, Sequence: t.Sequence,
		EndpointID: jobs[which[0]].endpoint.ID, Format: jobs[which[0]].format, Attempt: results[which[0]].nextAttempt, Round: jobs[which[0]].round + 1,
		Slice: jobs[which[0]].slice,
	}
	r.DueAt = storage.Time{Time: dueTogether(results, which).UTC()}
	for _, i := range which {
		results[i].delivery.NextAt = r.DueAt
	}
	made := keptOf(jobs, which)
	r.Homes, r.Curves = made.Homes, made.Curves
	return r
}

// dueTogether is when results are due that wait together: after one pause, that of the
// last of them. The longest of so many random pauses would be about the policy's
// ceiling each time, at which all slices that failed together came back together. What
// the endpoint asked for of any holds for all.
func dueTogether(results []result, which []int) time.Time {
	due := results[which[len(which)-1]].dueAt
	for _, i := range which {
		due = later(due, results[i].notBefore)
	}
	return due
}

// retryCurve is what a message in the format needs of a curve.
func retryCurve(c *signals.Curve, format storage.SignalFormat) events.RetryCurve {
	r := events.RetryCurve{RatePlanID: c.RatePlanID, Runs: c.Runs(), ExportCompensation: c.ExportCompensation, ImportSource: c.ImportSource}
	if format == storage.FormatOpenADR3 {
		r.Emissions = events.EmissionRuns(c.Emissions())
	}
	return r
}

// handleRetry makes the attempt that is due.
func (w *Worker) handleRetry(ctx context.Context, r events.Retry, taken events.Taken) error {
	if r.Walk != nil {
		return w.unpark(ctx, *r.Walk)
	}
	t := r.Trigger
	t.Sequence = r.Sequence
	if taken.Redelivered {
		if done, err := w.Bus.HasReceipt(ctx, t.OrganizationID, t.ID, r.Key()); done || err != nil {
			return err
		}
	}
	receipt := events.Receipt{TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: r.Key()}
	var target *endpoint
	err := w.Store.View(func(v storage.View) (err error) {
		target, err = w.endpoints.get(v, t.OrganizationID, r.EndpointID)
		return err
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		receipt.Deliveries, receipt.Kept = w.abandoned(&t, &r, "the endpoint was deleted"), abandonedOf(&r)
		return w.settle(ctx, nil, receipt)
	case err != nil:
		return err
	case !target.Enabled:
		receipt.Deliveries, receipt.Kept = w.abandoned(&t, &r, reasonPaused), abandonedOf(&r)
		return w.settle(ctx, nil, receipt)
	}
	turn := &turn{trigger: &t, slice: r.Slice, late: true}
	by, err := w.over(ctx, turn)
	switch until, _ := w.parkUntil(&t, []*endpoint{target}, w.Now()); {
	case err != nil:
		return err
	case by != nil:
		receipt.Deliveries = w.dropped(&t, &r, by)
		return w.settle(ctx, nil, receipt)
	case !until.IsZero():
		return w.postpone(ctx, r, until)
	}
	jobs, err := retryJobs(&t, &r, target)
	if err != nil {
		return err
	}
	for i := range jobs {
		jobs[i].turn = turn
	}
	deliveries, retries := w.deliver(ctx, &t, jobs, taken.Free)
	if target.DeliveryMode == storage.DeliverOnChange {
		// A newer signal may have come before this one.
		if err := w.forget(ctx, &t, target.ID, r.Slice, homesOf(jobs, target)); err != nil {
			return err
		}
	}
	receipt.Deliveries, receipt.Kept = deliveries, givenUpOf(jobs, deliveries)
	return w.settle(ctx, retries, receipt)
}

// retryJobs makes the same messages again from what the retry carries.
func retryJobs(t *events.Trigger, r *events.Retry, target *endpoint) ([]job, error) {
	curves := make([]*signals.Curve, len(r.Curves))
	for i, c := range r.Curves {
		curve, err := pricing.CurveFromRuns(t.Window(), c.Runs, c.ExportCompensation, c.ImportSource)
		if err != nil {
			return nil, err
		}
		curves[i] = signals.NewCurve(*curve, c.RatePlanID).WithEmissions(events.Emissions(c.Emissions))
	}
	jobs := make([]job, len(r.Homes))
	for i, h := range r.Homes {
		if h.Curve < 0 || h.Curve >= len(curves) {
			return nil, errors.New("a retry refers to a curve that it does not carry")
		}
		signal := signals.Signal{HomeID: h.HomeID, Curve: curves[h.Curve], Revision: h.Revision}
		m := newMessage(t, target.ID, signal)
		m.format = r.Format
		jobs[i] = job{message: m, endpoint: target, attempt: r.Attempt, round: r.Round, slice: r.Slice}
	}
	return jobs, nil
}

// abandoned are the outcomes of a retry that has nowhere to go.
func (w *Worker) abandoned(t *events.Trigger, r *events.Retry, why string) []events.Delivery {
	list := make([]events.Delivery, len(r.Homes))
	for i, h := range r.Homes {
		list[i] = events.Delivery{
			MessageID: events.MessageID(t.ID, h.HomeID, r.EndpointID), HomeID: h.HomeID, EndpointID: r.EndpointID,
			Outcome: events.OutcomeFailed, Attempt: r.Attempt - 1, At: storage.Time{Time: w.Store.Now()}, Reason: why,
		}
	}
	w.metrics.count(list)
	return list
}

// dropped are the outcomes of a retry whose place a newer trigger has taken.
func (w *Worker) dropped(t *events.Trigger, r *events.Retry, by *events.Trigger) []events.Delivery {
	list := make([]events.Delivery, len(r.Homes))
	for i, h := range r.Homes {
		list[i] = w.superseded(events.MessageID(t.ID, h.HomeID, r.EndpointID), h.HomeID, r.EndpointID, r.Attempt-1, by)
	}
	w.metrics.count(list)
	return list
}

func statusLine(status int) string {
	if name := http.StatusText(status); name != "" {
		return strconv.Itoa(status) + " " + name
	}
	return strconv.Itoa(status)
}
