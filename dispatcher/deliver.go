package dispatcher

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// result is what came of one job.
type result struct {
	delivery events.Delivery
	// dueAt is when a RETRYING delivery is due, zero otherwise; nextAttempt is
	// the number of the attempt then.
	dueAt       time.Time
	nextAttempt int
	// notBefore is the time that the endpoint asked for, zero where it did not.
	notBefore time.Time
	// bundle is the number of the bundle that it came of, 0 where that was one job.
	bundle int
}

// scratches keeps the buffers that bodies are made in.
var scratches = sync.Pool{New: func() any { return &scratch{text: make([]byte, 0, 16<<10)} }}

// lane is what one endpoint is sent of a slice. The endpoints of an organization
// do not wait for one another.
type lane struct {
	endpoint *endpoint
	places   []int        // in the slice's jobs
	bundles  [][]int      // the places by request, nil where each has its own
	taken    atomic.Int64 // of the requests
	left     atomic.Int64 // jobs that are not done
	answered atomic.Int64 // when the last job was done, in ns since 1970
}

func splitLanes(jobs []job) []*lane {
	var list []*lane
	byEndpoint := map[*endpoint]*lane{}
	for i := range jobs {
		l := byEndpoint[jobs[i].endpoint]
		if l == nil {
			l = &lane{endpoint: jobs[i].endpoint}
			l.answered.Store(time.Now().UnixNano())
			byEndpoint[l.endpoint] = l
			list = append(list, l)
		}
		l.places = append(l.places, i)
		l.left.Add(1)
	}
	for _, l := range list {
		if l.endpoint.BatchSize > 1 && jobs[l.places[0]].notice == nil {
			l.bundles = bundleUp(jobs, l.places, l.endpoint.BatchSize)
		}
	}
	return list
}

// requests is how many requests the lane takes.
func (l *lane) requests() int {
	if l.bundles != nil {
		return len(l.bundles)
	}
	return len(l.places)
}

// next takes the places of the next request, none when there are no more, which
// request that is from 0, and the number of the bundle that they are.
func (l *lane) next() (which []int, nth, bundle int) {
	n := int(l.taken.Add(1)) - 1
	switch {
	case n >= l.requests():
		return nil, n, 0
	case l.bundles != nil:
		return l.bundles[n], n, n + 1
	}
	return l.places[n : n+1], n, 0
}

// deliver makes one attempt for every job and returns what came of them and the
// retries to be scheduled. It frees its slot when that takes long.
func (w *Worker) deliver(ctx context.Context, t *events.Trigger, jobs []job, free func()) ([]events.Delivery, []events.Retry) {
	results := w.attempt(ctx, jobs, free)
	retries := groupRetries(t, jobs, results)
	deliveries := make([]events.Delivery, len(jobs))
	for i := range results {
		deliveries[i] = results[i].delivery
	}
	w.metrics.count(deliveries)
	return deliveries, retries
}

// attempt makes one attempt for every job, as the lanes of their endpoints allow.
func (w *Worker) attempt(ctx context.Context, jobs []job, free func()) []result {
	results := make([]result, len(jobs))
	lanes := splitLanes(jobs)
	done := w.relief.watch(lanes, free)
	var wg sync.WaitGroup
	for _, l := range lanes {
		until := l.endpoint.down(w.Now(), w.Jitter())
		if len(lanes) > 1 || jobs[0].notice != nil { // otherwise whoever calls has looked
			until = l.endpoint.unavailable(w.Now(), w.Jitter())
		}
		for range min(l.requests(), max(1, w.opt.perSlice()/len(lanes))) {
			wg.Go(func() { w.deliverLane(ctx, l, jobs, results, until) })
		}
	}
	wg.Wait()
	done()
	return results
}

// deliverLane takes jobs of a lane, one after another, until there are none. Where
// the endpoint is unavailable until a time, they are put off.
func (w *Worker) deliverLane(ctx context.Context, l *lane, all []job, results []result, until time.Time) {
	room := scratches.Get().(*scratch)
	defer room.done()
	for {
		b := bundle{jobs: all, results: results}
		if b.which, b.nth, b.number = l.next(); b.which == nil {
			return
		}
		jobs := len(b.which)
		if until.IsZero() {
			w.tryGuarded(ctx, &b, room)
		} else {
			b.each(func(j *job) result { return w.putOff(j, until) })
		}
		l.left.Add(-int64(jobs))
		l.answered.Store(time.Now().UnixNano())
	}
}

// tryGuarded turns a panic into a failed attempt: one home must not take the
// worker down.
func (w *Worker) tryGuarded(ctx context.Context, b *bundle, room *scratch) {
	j := b.first()
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("a delivery panicked", "org", j.trigger.OrganizationID, "home", j.signal.HomeID, "panic", p, "stack", string(debug.Stack()))
			b.each(func(j *job) result { return w.again(j, attempt{at: w.Now(), err: errors.New("an internal error")}) })
		}
	}()
	w.try(ctx, b, room)
}

// deadline is when a job is given up. The first attempt is made however little
// patience the endpoint has, for that is about retries: only the end of the
// signal's own window, or of a day, comes before it.
func (j *job) deadline() time.Time {
	policy := j.endpoint.RetryPolicy
	if j.attempt == 1 {
		policy.GiveUpSeconds = events.LongestRetry.Seconds()
	}
	return j.trigger.Deadline(policy)
}

// try makes one attempt, unless its deadline has passed or the worker must stop.
func (w *Worker) try(ctx context.Context, b *bundle, room *scratch) {
	e, deadline := b.first().endpoint, b.first().deadline() // which are those of all
	handedBack := func(j *job) result { return handBack(j, w.Now()) }
	late := func(j *job) result { return w.givenUp(j, w.Now(), deadline, attempt{at: w.Now()}, j.attempt-1) }
	if !w.Now().Before(deadline) {
		b.each(late)
		return
	}
	if e.limiter != nil {
		if e.limiter.WaitN(ctx, len(b.which)) != nil {
			b.each(handedBack)
			return
		}
		if w.paused(e) { // while it waited, perhaps for minutes
			b.each(func(j *job) result { return dropPaused(j, w.Now()) })
			return
		}
	}
	if !e.bulkhead.enter(ctx) {
		b.each(handedBack)
		return
	}
	defer e.bulkhead.leave()
	p := w.askLeave(ctx, e)
	defer e.breaker.dropped(&p) // unless it was reported
	switch {
	case ctx.Err() != nil:
		b.each(handedBack)
		return
	case !p.allowed:
		b.each(func(j *job) result { return w.putOff(j, p.until) })
		return
	case !w.Now().Before(deadline): // it has waited for long
		b.each(late)
		return
	}
	if b.which = w.inTurn(ctx, b); len(b.which) == 0 {
		return
	}
	id, body := room.payload(b)
	w.metrics.inFlight.Inc()
	a := w.tracing.send(ctx, w.sender, e, id, body, w.Now, b.nth)
	w.metrics.inFlight.Dec()
	w.attempts.Add(1)
	if b.number > 0 {
		a.batch = id
		a.readItems()
	}
	w.metrics.attempted(a)
	w.reportTo(e, &p, a, len(b.which))
	b.each(func(j *job) result { return w.conclude(ctx, j, a.of(j.id)) })
}

// inTurn are those of a bundle's jobs that have not lost their turn. The others are
// settled: a newer trigger may take the place of some, whose homes it means.
func (w *Worker) inTurn(ctx context.Context, b *bundle) (which []int) {
	left := b.which
	for n, i := range b.which {
		j := &b.jobs[i]
		by := w.lost(ctx, j)
		switch whole := len(left) == len(b.which); {
		case by == nil && !whole:
			left = append(left, i)
		case by != nil:
			if whole {
				left = slices.Clone(b.which[:n]) // which is the lane's
			}
			b.results[i] = result{delivery: w.superseded(j.id, j.signal.HomeID, j.endpoint.ID, j.attempt-1, by)}
		}
	}
	return left
}

// askLeave asks the endpoint's breaker for leave, and waits for the end of a probe
// that is under way.
func (w *Worker) askLeave(ctx context.Context, e *endpoint) pass {
	for {
		p := e.breaker.ask(w.Now())
		if p.probed == nil {
			return p
		}
		select {
		case <-p.probed:
		case <-ctx.Done():
			return p
		}
	}
}

// reportTo tells the endpoint's breaker what came of an attempt for a number of homes.
func (w *Worker) reportTo(e *endpoint, p *pass, a attempt, homes int) {
	defer func() { p.probe = false }()
	now := w.Now()
	switch {
	case judge(a) == delivered:
		if e.breaker.succeeded() {
			w.Log.Info("an endpoint is back: its breaker has closed", "org", e.OrganizationID, "endpoint", e.ID)
		}
	case a.retryAfter > 0:
		e.breaker.hold(now, now.Add(min(a.retryAfter, maxRetryAfter)))
	default:
		weight := min(homes*weightRefused, weightNoAnswer)
		if a.err != nil {
			weight = weightNoAnswer
		}
		pause := func(n int) time.Duration {
			return time.Duration((0.5 + w.Jitter()/2) * float64(ceiling(e.RetryPolicy, n)))
		}
		if e.breaker.failed(*p, weight, now, pause) {
			w.Log.Warn("an endpoint is taken to be down: its breaker has opened", "org", e.OrganizationID, "endpoint", e.ID, "reason", a.why())
		}
	}
}

// putOff leaves a job undone until its endpoint may be back, as long as the
// endpoint has patience.
func (w *Worker) putOff(j *job, until time.Time) result {
	now, deadline := w.Now(), j.trigger.Deadline(j.endpoint.RetryPolicy)
	if !now.Before(deadline) {
		return w.givenUp(j, now, deadline, attempt{at: now}, j.attempt-1)
	}
	until = until.Add(time.Duration(w.Jitter() * float64(crowdedFor)))
	if deadline.Before(until) {
		until = deadline // to be given up then
	}
	d := j.delivery(attempt{at: now}, j.attempt-1)
	d.Outcome, d.Reason = events.OutcomeRetrying, "the endpoint is down and not tried now"
	d.NextAt = storage.Time{Time: until.UTC()}
	return result{delivery: d, dueAt: until, nextAttempt: j.attempt}
}

// conclude turns an attempt into an outcome.
func (w *Worker) conclude(ctx context.Context, j *job, a attempt) result {
	d := j.delivery(a, j.attempt)
	switch judge(a) {
	case delivered:
		d.Outcome, d.Answer = events.OutcomeDelivered, ""
		return result{delivery: d}
	case gone:
		if a.item {
			d.Outcome, d.Reason = events.OutcomeFailed, "the endpoint answered 410 Gone for this home"
			return result{delivery: d}
		}
		w.disable(ctx, j.endpoint)
		d.Outcome, d.Reason = events.OutcomeFailed, "the endpoint answered 410 Gone and was disabled"
		return result{delivery: d}
	default:
		return w.again(j, a)
	}
}

// again schedules the next attempt, or gives up when there is no time for one.
func (w *Worker) again(j *job, a attempt) result {
	policy, now := j.endpoint.RetryPolicy, w.Now()
	deadline := j.trigger.Deadline(policy)
	due, ok := next(policy, j.attempt, now, deadline, a.retryAfter, w.Jitter())
	if !ok {
		return w.givenUp(j, now, deadline, a, j.attempt)
	}
	d := j.delivery(a, j.attempt)
	d.Outcome, d.NextAt = events.OutcomeRetrying, storage.Time{Time: due}
	r := result{delivery: d, dueAt: due, nextAttempt: j.attempt + 1}
	if a.retryAfter > 0 {
		r.notBefore = now.Add(min(a.retryAfter, maxRetryAfter))
	}
	return r
}

// paused reports whether an endpoint that was enabled when its jobs were planned
// is no longer.
func (w *Worker) paused(e *endpoint) bool {
	paused := false
	_ = w.Store.View(func(v storage.View) error { // what cannot be read is as it was
		now, err := w.endpoints.get(v, e.OrganizationID, e.ID)
		paused = errors.Is(err, storage.ErrNotFound) || err == nil && !now.Enabled
		return nil
	})
	return paused
}

// reasonPaused is why what waits for an endpoint that was paused is let go.
const reasonPaused = "the endpoint is disabled"

// dropPaused is the outcome of what an endpoint is not sent any more.
func dropPaused(j *job, now time.Time) result {
	d := j.delivery(attempt{at: now}, j.attempt-1)
	d.Outcome, d.Reason = events.OutcomeFailed, reasonPaused
	return result{delivery: d}
}

// givenUp is the outcome when no attempt can come before the deadline: EXPIRED
// when the signal's own window ends it, FAILED when the policy does.
func (w *Worker) givenUp(j *job, now, deadline time.Time, a attempt, attempts int) result {
	d := j.delivery(a, attempts)
	d.Outcome = events.OutcomeFailed
	if deadline.Equal(j.trigger.End.Time) {
		d.Outcome = events.OutcomeExpired
	}
	if d.Reason == "" {
		d.Reason = "its time was over before another attempt"
	}
	d.At = storage.Time{Time: now.UTC()}
	return result{delivery: d}
}

// handBack leaves a job undone for whoever is there next, at once.
func handBack(j *job, now time.Time) result {
	d := j.delivery(attempt{at: now}, j.attempt-1)
	d.Outcome, d.Reason = events.OutcomeRetrying, "handed back because the worker was stopping"
	d.NextAt = storage.Time{Time: now}
	return result{delivery: d, dueAt: now, nextAttempt: j.attempt}
}

// delivery describes an attempt, without an outcome yet.
func (j *job) delivery(a attempt, attempts int) events.Delivery {
	d := events.Delivery{
		MessageID: j.id, HomeID: j.signal.HomeID, EndpointID: j.endpoint.ID, Attempt: attempts,
		At: storage.Time{Time: a.at.UTC()}, BatchID: a.batch, Status: a.status, Answer: a.answer,
		Milliseconds: float64(a.took.Microseconds()) / 1000,
	}
	switch {
	case a.err != nil:
		d.Reason = a.err.Error()
	case a.status != 0 && (a.status < 200 || a.status > 299):
		d.Reason = "the endpoint answered " + statusLine(a.status)
	}
	a.describe(&d)
	return d
}

// disable turns an endpoint off that wants nothing more.
func (w *Worker) disable(ctx context.Context, e *endpoint) {
	ctx, cancel := settling(ctx)
	defer cancel()
	_, err := storage.Update(ctx, w.Store, e.Ref(), func(stored *storage.WebhookEndpoint) error {
		if !stored.Enabled || stored.URL != e.URL {
			return errAlready
		}
		stored.Disable(storage.DisabledGone, "it answered 410 Gone", w.Store.Now())
		return nil
	})
	switch {
	case err == nil:
		w.Log.Warn("an endpoint answered 410 Gone and is disabled", "org", e.OrganizationID, "endpoint", e.ID)
	case !errors.Is(err, errAlready):
		w.Log.Error("an endpoint that answered 410 Gone could not be disabled; the next answer tries again",
			"org", e.OrganizationID, "endpoint", e.ID, "error", err)
	}
}

var errAlready = errors.New("already so")
