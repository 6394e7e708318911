package gate

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events/turns"
)

// Options limit the requests of a worker.
type Options struct {
	// Concurrency is the maximum number of requests in flight to all endpoints together.
	Concurrency int
	// EndpointConcurrency is the maximum number of requests in flight to one endpoint.
	EndpointConcurrency int
	// SlowSlices is the maximum number of slow slices of one endpoint.
	SlowSlices int
	// Now is the clock of the breakers.
	Now func() time.Time
	// Jitter returns a number in [0,1).
	Jitter func() float64
}

// slowStart divides the concurrency limit of an unproven endpoint. So a hanging endpoint
// holds an eighth of the requests of a good endpoint.
const slowStart = 8

// Gate holds the limits that all endpoints of a worker share.
type Gate struct {
	opt Options
	// total limits all requests in flight. An organization has at most three quarters of it,
	// because its endpoints may all stop responding at once, and less beside others.
	total *turns.Turns
	// unproven limits the requests to unproven endpoints. It is half of total, so the other
	// half stays free for proven endpoints. An organization with many endpoints that hang has
	// at most half of it.
	unproven *turns.Turns
	// slow limits the slow slices.
	slow *turns.Turns
	// waiting limits the memory of slices and retries that wait for capacity, in units of
	// waitUnit.
	waiting *turns.Turns
	// closing is closed when the worker takes no more messages.
	closing chan struct{}
}

// New returns a gate.
func New(o Options) *Gate {
	unproven, most := max(1, o.Concurrency/2), max(o.EndpointConcurrency, o.Concurrency*3/4)
	return &Gate{
		closing: make(chan struct{}), opt: o, total: turns.New(o.Concurrency, most), unproven: turns.New(unproven, max(1, unproven/2)),
		slow: turns.New(maxSlow, maxSlow/2), waiting: turns.New(maxWaitingAll, maxWaitingAll/2),
	}
}

// Close ends all waits for capacity and for rate limits, so that another worker takes the
// slices and the deliveries.
func (g *Gate) Close() { close(g.closing) }

// Closed reports whether Close was called.
func (g *Gate) Closed() bool {
	select {
	case <-g.closing:
		return true
	default:
		return false
	}
}

// Pass is the permission to make one request. Leave ends it.
type Pass struct {
	endpoint *Endpoint
	probe    bool
	// unproven reports whether the request counts as one to an unproven endpoint.
	unproven bool
	// moves is the number of the endpoint's moves when the request was sent.
	moves int
	// Until is the time of the next try if the endpoint is down. It is zero if the
	// request may be made.
	Until time.Time
}

// Report describes how a request ended. The zero value means that no request was made.
type Report struct {
	// Sent reports whether a request was made, Responded whether a response came, and
	// Delivered whether the response was good.
	Sent, Responded, Delivered bool
	// RetryAfter is the delay that the endpoint requested, 0 for none.
	RetryAfter time.Duration
	// Deliveries is the number of deliveries in the request.
	Deliveries int
}

// Change is the effect of a report.
type Change int

// Effects of a report.
const (
	Unchanged Change = iota
	// Opened: the breaker opened, because the endpoint counts as down or requested a delay.
	Opened
	// Closed: the breaker closed, because the endpoint is back.
	Closed
)

// Enter waits until a request may be sent. deliveries returns the number of deliveries that
// the request still has: some may be dropped while it waits for the rate limit. If the
// endpoint is down, Pass.Until is set, and Leave is not needed. Errors: the error of ctx,
// ErrInterrupted, ErrClosed.
func (e *Endpoint) Enter(ctx context.Context, deliveries func() int) (p Pass, err error) {
	if err := e.spread(ctx, deliveries); err != nil {
		return p, err
	}
	if err := e.acquire(ctx); err != nil { // a wait for the rate limit is no silence of the endpoint
		return p, err
	}
	permitted, err := e.awaitBreaker(ctx)
	if err == nil && permitted.until.IsZero() {
		p.unproven, err = e.enterGate(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p.probe, p.Until = permitted.probe, permitted.until
	if err != nil || !p.Until.IsZero() {
		e.breaker.drop(p.probe)
		e.releaseLocked()
		return p, err
	}
	if e.sent++; e.sent == 1 {
		e.sentSince = time.Now()
	}
	p.endpoint, p.moves = e, e.moves
	return p, nil
}

// enterGate waits for the limits that the endpoints share. It reports whether the endpoint
// is unproven.
func (e *Endpoint) enterGate(ctx context.Context) (unproven bool, err error) {
	e.mu.Lock()
	unproven = !e.provenLocked()
	e.mu.Unlock()
	if unproven {
		if _, err = e.gate.unproven.Acquire(ctx, e.org, 1); err != nil {
			return false, err
		}
	}
	if _, err = e.gate.total.Acquire(ctx, e.org, 1); err != nil && unproven {
		e.gate.unproven.Release(e.org, 1)
	}
	return unproven, err
}

// Leave ends a pass and reports how its request ended. Only the first call counts, so the
// caller may also defer a call.
func (p *Pass) Leave(r Report) Change {
	e := p.endpoint
	if e == nil {
		return Unchanged
	}
	p.endpoint = nil
	e.gate.total.Release(e.org, 1)
	if p.unproven {
		e.gate.unproven.Release(e.org, 1)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	change := Unchanged
	if e.moves == p.moves {
		change = e.reportLocked(p.probe, r)
	}
	if e.sent--; r.Responded {
		e.respondedAt = time.Now()
	}
	e.releaseLocked()
	return change
}

// reportLocked passes the end of a request to the breaker.
func (e *Endpoint) reportLocked(probe bool, r Report) Change {
	now := e.gate.opt.Now()
	switch {
	case !r.Sent:
		e.breaker.drop(probe)
	case r.Delivered:
		if e.breaker.succeeded(now) {
			return Closed
		}
	case r.RetryAfter > 0:
		if e.breaker.hold(now, now.Add(min(r.RetryAfter, policy.MaxRetryAfter))) {
			return Opened
		}
	default:
		weight := weightNoResponse
		if r.Responded {
			weight = min(r.Deliveries*weightRefused, weightNoResponse)
		}
		share := 0.5 + e.gate.opt.Jitter()/2
		openFor := func(n int) time.Duration {
			return time.Duration(share * float64(policy.MaxDelay(e.policy, n)))
		}
		if e.breaker.failed(probe, weight, now, openFor) {
			return Opened
		}
	}
	return Unchanged
}
