package gate

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/storage"
)

// Limits of the breakers.
const (
	// breakAfter is the total weight of consecutive failures that opens the breaker. A
	// refusal weighs little: it costs no more than a success, and may concern a single
	// home. A missing response weighs much: it holds a connection for long, and concerns
	// the whole endpoint.
	breakAfter       = 512
	weightRefused    = 1
	weightNoResponse = 50
	// LongestBreak limits how long a breaker stays open. So it also limits how long a
	// recovered endpoint waits for a probe.
	LongestBreak = time.Minute
	// forgottenAfter is how long an open breaker still counts as down after its probe was
	// due. If nobody makes the probe, nothing waits for the endpoint.
	forgottenAfter = 5 * time.Minute
)

// breaker is the circuit breaker of one endpoint. It is closed while the endpoint
// responds. Consecutive failures with a total weight of breakAfter open it. An open
// breaker allows no request until a time. Then one request, the probe, decides whether
// the breaker closes or stays open. The mutex of the endpoint protects it.
type breaker struct {
	weight    int           // of the consecutive failures
	responded bool          // the endpoint has responded well before
	opens     int           // consecutive openings
	since     time.Time     // time of opening, zero while closed
	probeAt   time.Time     // due time of the probe, zero while closed
	probe     chan struct{} // closed at the end of the current probe, nil without a probe
	// heldUntil is the time until which the endpoint has requested to be left alone.
	heldUntil time.Time
}

// permission is a breaker's decision. If until is zero, a request may be made. probe
// reports whether the request is the probe.
type permission struct {
	probe bool
	until time.Time
}

// ask asks for permission. If probing is not nil, another request is the probe. The
// caller must ask again when probing closes.
func (b *breaker) ask(now time.Time) (p permission, probing <-chan struct{}) {
	switch {
	case b.probeAt.IsZero():
		return permission{}, nil
	case now.Before(b.probeAt):
		return permission{until: b.probeAt}, nil
	case b.probe != nil:
		return permission{}, b.probe
	default:
		b.probe = make(chan struct{})
		return permission{probe: true}, nil
	}
}

// openUntil returns the time when an open breaker allows a probe. It is zero if the
// breaker is closed or the probe is due.
func (b *breaker) openUntil(now time.Time) time.Time {
	if now.Before(b.probeAt) {
		return b.probeAt
	}
	return time.Time{}
}

// failing reports whether failures keep the breaker open. If a Retry-After keeps it open,
// the endpoint responds and only asks to wait, unless it asks again and again.
func (b *breaker) failing(now time.Time) bool {
	return now.Before(b.probeAt) && (!now.Before(b.heldUntil) || now.Sub(b.since) > policy.MaxRetryAfter)
}

// down reports whether recent requests indicate that the endpoint is down.
func (b *breaker) down(now time.Time) bool {
	return now.Before(b.probeAt.Add(forgottenAfter))
}

// trusted reports whether the endpoint responded well to its last request.
func (b *breaker) trusted() bool {
	return b.responded && b.weight == 0
}

// succeeded records a good response and reports whether it closed the breaker. A response
// to an earlier request does not end a hold.
func (b *breaker) succeeded(now time.Time) (closed bool) {
	b.weight, b.responded = 0, true
	b.endProbe()
	if b.probeAt.IsZero() || now.Before(b.heldUntil) {
		return false
	}
	b.opens, b.since, b.probeAt = 0, time.Time{}, time.Time{}
	return true
}

// failed records a failed request with its weight, and reports whether it opened the
// breaker. openFor returns how long the breaker stays open at its n-th consecutive
// opening, from 1.
func (b *breaker) failed(probe bool, weight int, now time.Time, openFor func(n int) time.Duration) (opened bool) {
	b.weight += weight
	switch {
	case probe && !b.probeAt.IsZero(): // otherwise another request has closed the breaker
		defer b.endProbe()
	case !b.probeAt.IsZero() || b.weight < breakAfter:
		return false // open already, or below the limit
	}
	opened = b.probeAt.IsZero()
	b.opens++
	if b.since.IsZero() {
		b.since = now
	}
	b.probeAt = storage.Later(now.Add(min(openFor(b.opens), LongestBreak)), b.heldUntil)
	return opened
}

// hold keeps the breaker open until the time that the endpoint requested, and reports
// whether it opened the breaker. If nobody has made the probe after an earlier time, the
// requests to wait do not add up.
func (b *breaker) hold(now, until time.Time) (opened bool) {
	opened = b.probeAt.IsZero()
	if !b.down(now) {
		b.since = now
	}
	b.probeAt, b.heldUntil = storage.Later(b.probeAt, until), storage.Later(b.heldUntil, until)
	b.endProbe()
	return opened
}

// drop cancels a probe that was not made.
func (b *breaker) drop(probe bool) {
	if probe {
		b.endProbe()
	}
}

// reset closes the breaker and clears its state.
func (b *breaker) reset() {
	b.endProbe()
	*b = breaker{}
}

func (b *breaker) endProbe() {
	if b.probe != nil {
		close(b.probe)
		b.probe = nil
	}
}

// awaitBreaker asks the breaker for permission to make a request, and waits for the end of a
// current probe.
func (e *Endpoint) awaitBreaker(ctx context.Context) (permission, error) {
	for {
		e.mu.Lock()
		p, probing := e.breaker.ask(e.gate.opt.Now())
		e.mu.Unlock()
		if probing == nil {
			return p, nil
		}
		select {
		case <-probing:
		case <-ctx.Done():
			return permission{}, ctx.Err()
		}
	}
}

// Down reports whether recent requests indicate that the endpoint is down.
func (e *Endpoint) Down(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breaker.down(now)
}

// OpenUntil returns the time when an open breaker allows a probe. It is zero if the
// breaker is closed or the probe is due.
func (e *Endpoint) OpenUntil(now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breaker.openUntil(now)
}

// Failing reports whether failures, not a Retry-After, keep the breaker open.
func (e *Endpoint) Failing(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breaker.failing(now)
}

// Standing returns the times of the breaker's opening and of its next probe. open is
// false if the breaker is closed.
func (e *Endpoint) Standing() (since, probeAt time.Time, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breaker.since, e.breaker.probeAt, !e.breaker.probeAt.IsZero()
}
