package gate

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridhook/gridhook/storage"
)

// Endpoint is a worker's record of one endpoint's behavior. It outlives the revisions of
// the endpoint's stored record.
type Endpoint struct {
	gate *Gate
	org  string
	slow slowSlices
	pace atomic.Int64 // time per delivery of the last slice, in ns

	mu      sync.Mutex
	breaker breaker
	policy  storage.RetryPolicy
	limit   *rateLimit // nil without a rate limit
	// inFlight counts the requests in flight. queue holds the requests that wait for the
	// concurrency limit.
	inFlight int
	queue    []chan struct{}
	// pending counts the requests that wait or are in flight. sent counts the requests in
	// flight. pendingSince and sentSince are the times when these counts rose from 0.
	// respondedAt is the time of the last response.
	pending, sent                        int
	pendingSince, sentSince, respondedAt time.Time
	// moves counts the changes of the endpoint's URL.
	moves int
}

// NewEndpoint returns an endpoint of an organization, without history.
func (g *Gate) NewEndpoint(org string) *Endpoint {
	return &Endpoint{gate: g, org: org, slow: slowSlices{most: g.opt.SlowSlices}}
}

// Configure sets an endpoint's retry policy, its rate limit in deliveries per second (0
// for none; other workers have their own limit), and its batch size. The rate limit admits a whole batch at once.
func (e *Endpoint) Configure(p storage.RetryPolicy, perSecond float64, batch int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = p
	perBurst := max(1, int(perSecond/10), batch)
	if e.limit != nil && e.limit.Limit() == rate.Limit(perSecond) && e.limit.Burst() == perBurst {
		return
	}
	e.relimitLocked(perSecond, perBurst)
}

// Interrupt ends all waits for the rate limit with ErrInterrupted, because the endpoint may
// not receive any more requests.
func (e *Endpoint) Interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limit != nil {
		e.relimitLocked(float64(e.limit.Limit()), e.limit.Burst())
	}
}

// relimitLocked replaces the rate limit, and so ends the waits of requests.
func (e *Endpoint) relimitLocked(perSecond float64, burst int) {
	if e.limit != nil {
		close(e.limit.replaced)
	}
	if e.limit = nil; perSecond > 0 {
		e.limit = &rateLimit{Limiter: rate.NewLimiter(rate.Limit(perSecond), burst), first: make(chan struct{}, 1), replaced: make(chan struct{})}
	}
}

// Moved resets the breaker after a change of the endpoint's URL. The responses to requests
// in flight, which went to the former URL, no longer count.
func (e *Endpoint) Moved() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.moves++
	e.breaker.reset()
}

// trusted reports whether the endpoint responded well to its last request.
func (e *Endpoint) trusted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breaker.trusted()
}

// provenLocked reports whether the endpoint responded well to its last request, and still
// responds.
func (e *Endpoint) provenLocked() bool {
	return e.breaker.trusted() && (e.sent == 0 || time.Since(storage.Later(e.respondedAt, e.sentSince)) <= slowAfter)
}

// silence returns the time without a response to the pending requests, 0 if there are
// none.
func (e *Endpoint) silence() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending == 0 {
		return 0
	}
	return time.Since(storage.Later(e.respondedAt, e.pendingSince))
}

// limitLocked returns the current concurrency limit.
func (e *Endpoint) limitLocked() int {
	if e.provenLocked() {
		return e.gate.opt.EndpointConcurrency
	}
	return max(1, e.gate.opt.EndpointConcurrency/slowStart)
}

// acquire waits for the endpoint's concurrency limit, first come, first served. From then
// until release, the request is pending.
func (e *Endpoint) acquire(ctx context.Context) error {
	e.mu.Lock()
	if e.pending++; e.pending == 1 {
		e.pendingSince = time.Now()
	}
	if len(e.queue) == 0 && e.inFlight < e.limitLocked() {
		e.inFlight++
		e.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	e.queue = append(e.queue, granted)
	e.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := slices.Index(e.queue, granted); at >= 0 {
		e.queue = slices.Delete(e.queue, at, at+1)
		e.pending--
		return ctx.Err()
	}
	e.releaseLocked() // the request was granted at that very moment
	return ctx.Err()
}

func (e *Endpoint) releaseLocked() {
	e.pending--
	e.inFlight--
	e.grantLocked()
}

func (e *Endpoint) grantLocked() {
	for len(e.queue) > 0 && e.inFlight < e.limitLocked() {
		close(e.queue[0])
		e.queue = e.queue[1:]
		e.inFlight++
	}
}
