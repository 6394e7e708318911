package dispatcher

import (
	"context"
	"errors"
	"hash/fnv"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// lane is the part of a slice or retry that goes to one endpoint, or to one server with
// callbacks. Lanes do not wait for one another.
type lane struct {
	gate *gate.Endpoint
	jobs []int // indexes in all jobs
	// requests are the numbers of jobs in each request, nil if each job has its own
	// request.
	requests []int
	progress *gate.Progress
	mu       sync.Mutex
	next     int // index of the next request
	done     int // number of jobs in requests before next
}

func splitLanes(jobs []job) (list []*lane, parts []*gate.Progress) {
	for _, which := range byGate(jobs) {
		first := &jobs[which[0]]
		l := &lane{gate: first.target.Gate, jobs: which}
		switch {
		case first.target.BatchSize <= 1:
			l.jobs = rotated(l.jobs, first.Trigger.ID)
		case first.Notice == nil:
			l.requests = webhook.Split(len(l.jobs), first.target.BatchSize, func(i int) int { return jobs[l.jobs[i]].Size() })
		}
		l.progress = l.gate.Progress(len(l.jobs))
		list, parts = append(list, l), append(parts, l.progress)
	}
	return list, parts
}

// rotated moves the start of a lane to a position that depends on the trigger. If an
// endpoint takes only the first jobs of each slice before it asks to wait, each trigger
// reaches other homes.
func rotated(jobs []int, triggerID string) []int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(triggerID))   // it never fails
	at := h.Sum32() % uint32(len(jobs)) //nolint:gosec // a slice has few jobs
	return slices.Concat(jobs[at:], jobs[:at])
}

// size returns the number of requests in the lane.
func (l *lane) size() int {
	if l.requests != nil {
		return len(l.requests)
	}
	return len(l.jobs)
}

// take returns the next request. The request has no jobs if none are left.
func (l *lane) take(all []job, results []result) request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next >= l.size() {
		return request{}
	}
	r := request{all: all, results: results, target: all[l.jobs[l.done]].target, number: l.next, batch: l.requests != nil}
	length := 1
	if r.batch {
		length = l.requests[l.next]
	}
	r.jobs = l.jobs[l.done : l.done+length]
	l.next, l.done = l.next+1, l.done+length
	return r
}

// deliver makes one attempt for every job whose endpoint is available, and returns the
// results. unavailable holds the endpoints that the caller found unavailable, each with the
// end of that time. The watch frees the slot if the attempts take long. The retries of a lane
// that ends before the others are stored at once: stored is their size in bytes. Their results
// have no due time any more.
func (w *Worker) deliver(ctx context.Context, jobs []job, unavailable map[*gate.Endpoint]time.Time, watch *gate.Watch) (results []result, stored int) {
	if len(jobs) == 0 {
		return nil, 0
	}
	results = make([]result, len(jobs))
	lanes, parts := splitLanes(jobs)
	watch.Start(parts)
	var wg sync.WaitGroup
	var size, ended atomic.Int64
	for _, l := range lanes {
		until := storage.Later(unavailable[l.gate], w.staggered(l.gate.OpenUntil(w.Now())))
		wg.Go(func() {
			w.deliverLane(ctx, l, jobs, results, until, max(1, w.opt.perSlice()/len(lanes)))
			if ended.Add(1) < int64(len(lanes)) {
				size.Add(int64(w.retryEarly(ctx, l, jobs, results)))
			}
		})
	}
	wg.Wait()
	return results, int(size.Load())
}

// deliverLane makes the requests of a lane, several at once.
func (w *Worker) deliverLane(ctx context.Context, l *lane, all []job, results []result, until time.Time, atOnce int) {
	var wg sync.WaitGroup
	for range min(l.size(), atOnce) {
		wg.Go(func() { w.deliverInTurn(ctx, l, all, results, until) })
	}
	wg.Wait()
}

// deliverInTurn makes requests of a lane until none are left. If the endpoint is
// unavailable until a time, it postpones the jobs.
func (w *Worker) deliverInTurn(ctx context.Context, l *lane, all []job, results []result, until time.Time) {
	ctx, done := httpclient.InTurn(ctx)
	defer done()
	scratch := webhook.GetScratch()
	defer scratch.Put()
	var r request // a variable of each iteration would be an allocation
	for r = l.take(all, results); len(r.jobs) > 0; r = l.take(all, results) {
		jobs := len(r.jobs)
		if until.IsZero() {
			w.attempt(ctx, &r, scratch)
			l.progress.Done(jobs)
		} else {
			r.each(func(j *job) result { return w.reschedule(j, until) })
			l.progress.Postponed(jobs)
		}
	}
}

// request is a single job, or a batch of several jobs.
type request struct {
	all     []job
	results []result
	jobs    []int // indexes in all and results
	target  *target.Target
	number  int // number in the lane, from 0
	batch   bool
	at      time.Time // of the attempt, or of the last look at the deadline before it
	gone    string    // reason why the endpoint receives nothing any more
}

func (r *request) first() *job { return &r.all[r.jobs[0]] }

// each sets the result of each job.
func (r *request) each(conclude func(j *job) result) {
	for _, i := range r.jobs {
		r.results[i] = conclude(&r.all[i])
		if r.batch {
			r.results[i].together = r.number + 1
		}
	}
}

// attempt makes one request and concludes each of its jobs. A panic counts as a failed
// attempt, because one home must not crash the worker.
func (w *Worker) attempt(ctx context.Context, r *request, scratch *webhook.Scratch) {
	defer func() {
		if p := recover(); p != nil {
			j := r.first()
			w.Log.Error("delivery panicked", "org", j.Trigger.OrganizationID, "home", j.Signal.HomeID, "panic", p, "stack", string(debug.Stack()))
			failed := send.Attempt{At: w.Now(), Err: errors.New("an internal error")}
			r.each(func(j *job) result { return w.retryLater(j, attempt{Attempt: failed}) })
		}
	}()
	began := w.Now()
	r.at = began
	if conclude := r.expired(); conclude != nil {
		r.each(conclude)
		return
	}
	pass, err := w.enter(ctx, r)
	defer pass.Leave(gate.Report{}) // no effect after an earlier Leave
	if r.jobs = w.inOrder(r); len(r.jobs) == 0 {
		return
	}
	r.at = w.Now()
	if conclude := w.refuse(ctx, r, pass.Until, err, r.at.Sub(began)); conclude != nil {
		r.each(conclude)
		return
	}
	a := w.post(ctx, r, scratch)
	if errors.Is(a.Err, send.ErrStopping) {
		r.each(func(j *job) result { return w.requeue(j, a) })
		return
	}
	w.finish(r, &pass, &a)
	r.each(func(j *job) result { return w.conclude(ctx, r.target, j, a.of(r.target.Destination, &j.Message)) })
}

// expired returns the conclusion of jobs whose deadline has passed, otherwise nil. All
// jobs of a request have the same deadline.
func (r *request) expired() func(*job) result {
	deadline := r.first().deadline()
	if r.at.Before(deadline) {
		return nil
	}
	a := unsent(r.at)
	return func(j *job) result {
		return j.givenUp(&a, j.attempt-1, deadline, "the deadline passed before an attempt was possible")
	}
}

// enter waits until the request may be made. The wait for a rate limit may be long, so enter
// reads such an endpoint before it, and whenever the endpoint changes during it. Errors: the
// error of ctx, gate.ErrClosed, gate.ErrInterrupted if the endpoint receives nothing any more.
func (w *Worker) enter(ctx context.Context, r *request) (pass gate.Pass, err error) {
	for enabled := r.target.RateLimit == 0 || w.refresh(r); enabled; enabled = w.refresh(r) {
		if pass, err = r.target.Gate.Enter(ctx, func() int { return w.left(r) }); !errors.Is(err, gate.ErrInterrupted) {
			return pass, err
		}
	}
	return pass, gate.ErrInterrupted
}

// left returns the number of jobs of a request that still need an attempt.
func (w *Worker) left(r *request) int {
	r.at = w.Now()
	if r.jobs = w.inOrder(r); len(r.jobs) == 0 || r.expired() != nil {
		return 0
	}
	return len(r.jobs)
}

// refreshAfter is the wait after which a request reads its endpoint again.
const refreshAfter = time.Second

// refuse decides after the wait at the gate. It returns how each job ends without a
// request, or nil if the request may be made. until is the time of the next try if the
// endpoint is down.
func (w *Worker) refuse(ctx context.Context, r *request, until time.Time, err error, waited time.Duration) func(*job) result {
	switch {
	case ctx.Err() != nil, errors.Is(err, gate.ErrClosed):
		return func(j *job) result { return w.requeue(j, unsent(w.Now())) }
	case err != nil, waited > refreshAfter && !w.refresh(r):
		return func(j *job) result { return result{delivery: j.skipped(events.OutcomeFailed, r.gone, w.Now())} }
	case !until.IsZero():
		return func(j *job) result { return w.reschedule(j, until) }
	}
	return r.expired() // it may have waited for long
}

// inOrder returns the jobs of a request that no newer trigger supersedes. It concludes
// the superseded jobs. It moves the others together: the lane does not use its part of
// the jobs again.
func (w *Worker) inOrder(r *request) []int {
	return slices.DeleteFunc(r.jobs, func(i int) bool {
		by := w.supersededBy(&r.all[i])
		if by != "" {
			r.results[i] = result{delivery: r.all[i].superseded(by, w.Store.Now())}
		}
		return by != ""
	})
}

// attempt is an attempt as its messages see it.
type attempt struct {
	send.Attempt
	// batchID is the webhook-id of a batch, "" for a single message. results are the
	// results of single messages in the response.
	batchID string
	results map[string]webhook.Result
	// single reports whether the status belongs to one message of a batch.
	single bool
}

// of returns the attempt as one message to a destination sees it.
func (a *attempt) of(d *send.Destination, m *webhook.Message) attempt {
	of := *a
	if len(a.results) == 0 {
		return of
	}
	if r, ok := a.results[m.ID()]; ok {
		of.Status, of.single = r.Status, true
		of.Response = d.Text(&a.Attempt, r.Reason)
	}
	return of
}

// post makes the payload, signs it and sends it.
func (w *Worker) post(ctx context.Context, r *request, scratch *webhook.Scratch) attempt {
	scratch.Messages = scratch.Messages[:0]
	for _, i := range r.jobs {
		scratch.Messages = append(scratch.Messages, &r.all[i].Message)
	}
	payload := scratch.Payload(r.batch, r.target.Compression)
	out := send.Request{At: r.at, ID: payload.ID, Headers: r.target.Headers(&payload, r.at), Body: payload.Sent(), Number: r.number}
	if r.batch {
		out.KeepResponse = send.MaxResponse // the response may hold the results of single messages
	}
	w.metrics.inFlight.Inc()
	defer w.metrics.inFlight.Dec() // also after a panic, which attempt recovers
	a := attempt{Attempt: w.Sender.Send(ctx, r.target.Destination, &out)}
	w.attempts.Add(1)
	if r.batch {
		a.batchID = payload.ID
		if a.Verdict() == policy.Delivered {
			a.results, a.Err = webhook.ReadResults(a.Body, scratch.Messages, func(text string) string {
				return r.target.Destination.Mask(&a.Attempt, text)
			})
		}
	}
	if !errors.Is(a.Err, send.ErrStopping) { // the endpoint did not fail
		w.metrics.attempted(&a.Attempt)
	}
	return a
}

// finish reports to the gate how a request ended.
func (w *Worker) finish(r *request, pass *gate.Pass, a *attempt) {
	e := r.target
	switch pass.Leave(gate.Report{
		Sent: true, Responded: a.Status != 0, Delivered: a.Verdict() == policy.Delivered, RetryAfter: a.RetryAfter, Deliveries: len(r.jobs),
	}) {
	case gate.Opened:
		w.Log.Warn("breaker opened, endpoint is down", "org", e.OrganizationID, "endpoint", e.ID, "reason", a.Summary())
	case gate.Closed:
		w.Log.Info("breaker closed, endpoint is back", "org", e.OrganizationID, "endpoint", e.ID)
	}
}

// refresh reads the endpoint of a request that has waited. The request then goes to the
// endpoint's current URL with its current secrets. refresh reports whether the endpoint is
// still enabled, and otherwise sets r.gone.
func (w *Worker) refresh(r *request) (enabled bool) {
	e := r.target
	now, err := storage.Query(w.Store, func(v storage.View) (*target.Target, error) { return w.targets.Get(v, e.OrganizationID, e.ID) })
	switch {
	case errors.Is(err, storage.ErrNotFound):
		r.gone = reasonDeleted
	case err == nil && !now.Enabled:
		r.gone = reasonPaused
	case err == nil:
		r.target = now
	}
	return r.gone == "" // after another error the endpoint counts as unchanged
}
