package gate

import (
	"context"
	"errors"
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
	// limiter enforces the rate limit, nil without a rate limit. relimited is closed when
	// another limiter replaces it: the waits of requests end then.
	limiter   *rate.Limiter
	relimited chan struct{}
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
	return &Endpoint{gate: g, org: org, slow: slowSlices{most: g.opt.SlowSlices}, relimited: make(chan struct{})}
}

// Configure sets an endpoint's retry policy, its rate limit in deliveries per second (0
// for none; other workers have their own limit), and its batch size. The rate limit admits a whole batch at once.
func (e *Endpoint) Configure(p storage.RetryPolicy, perSecond float64, batch int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = p
	had, limit, burst := e.limiter, rate.Limit(perSecond), max(1, int(perSecond/10), batch)
	if had != nil && had.Limit() == limit && had.Burst() == burst {
		return
	}
	e.relimitLocked(limit, burst)
}

// Interrupt ends all waits for the rate limit with ErrInterrupted, because the endpoint may
// not receive any more requests.
func (e *Endpoint) Interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limiter != nil {
		e.relimitLocked(e.limiter.Limit(), e.limiter.Burst())
	}
}

// relimitLocked replaces the limiter, and so drops the places of waiting requests in it.
func (e *Endpoint) relimitLocked(limit rate.Limit, burst int) {
	if e.limiter = nil; limit > 0 {
		e.limiter = rate.NewLimiter(limit, burst)
	}
	close(e.relimited)
	e.relimited = make(chan struct{})
}

// ErrInterrupted says that the rate limit or the endpoint changed during the wait for the
// limit. The caller reads the endpoint again, and enters again if it still receives requests.
var ErrInterrupted = errors.New("the endpoint has changed")

// spread waits until the rate limit admits the given number of deliveries, or as many as it
// admits at once: the batch may have been made before the batch size was reduced. It does not
// wait if the breaker is open, because no request is made. Errors: the error of ctx,
// ErrInterrupted.
func (e *Endpoint) spread(ctx context.Context, deliveries int) error {
	e.mu.Lock()
	limiter, relimited := e.limiter, e.relimited
	open := !e.breaker.openUntil(e.gate.opt.Now()).IsZero()
	e.mu.Unlock()
	if limiter == nil || open {
		return nil
	}
	place := limiter.ReserveN(time.Now(), min(deliveries, limiter.Burst()))
	delay := place.Delay()
	if delay == 0 { // a timer would hold up the request until a busy processor looks at it
		return nil
	}
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		place.Cancel()
		return ctx.Err()
	case <-relimited:
		return ErrInterrupted
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
	return e.breaker.trusted() && (e.sent == 0 || time.Since(latest(e.respondedAt, e.sentSince)) <= slowAfter)
}

// silence returns the time without a response to the pending requests, 0 if there are
// none.
func (e *Endpoint) silence() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending == 0 {
		return 0
	}
	return time.Since(latest(e.respondedAt, e.pendingSince))
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
