package dispatcher

import (
	"sync"
	"time"
)

// Breaking.
const (
	// breakAfter is how much must fail in a row before an endpoint is taken to
	// be down. A refusal weighs little: it costs no more than a success, and may
	// be about the one home. No answer weighs much: it holds a connection for
	// long, and is about the endpoint.
	breakAfter     = 512
	weightRefused  = 1
	weightNoAnswer = 50
	// longestBreak bounds how long a partner who is back waits to be noticed.
	longestBreak = time.Minute
)

// breaker stops trying an endpoint that is down home by home. It is closed while
// the endpoint answers. After failures in a row that weigh breakAfter it opens:
// nothing is tried until a time, and then a single attempt, the probe, decides
// whether it closes or stays open for longer.
type breaker struct {
	mu      sync.Mutex
	weight  int           // of the failures in a row
	answers bool          // the endpoint has answered well before
	opens   int           // in a row
	since   time.Time     // it opened, zero while closed
	probeAt time.Time     // zero while closed
	probe   chan struct{} // closed at the end of the probe under way, nil when there is none
}

// pass is a breaker's leave to make an attempt.
type pass struct {
	allowed bool
	// probe says that the attempt is the probe: it must be reported.
	probe bool
	// probed, when not nil, closes when the probe that somebody else makes has
	// been reported; ask again then.
	probed <-chan struct{}
	// until is when to come back, where the attempt is not allowed.
	until time.Time
}

// ask asks for leave to make an attempt.
func (b *breaker) ask(now time.Time) pass {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.probeAt.IsZero():
		return pass{allowed: true}
	case now.Before(b.probeAt):
		return pass{until: b.probeAt}
	case b.probe != nil:
		return pass{probed: b.probe, until: now}
	default:
		b.probe = make(chan struct{})
		return pass{allowed: true, probe: true}
	}
}

// openUntil is when an open breaker lets a probe through, zero while it is
// closed or the time has come.
func (b *breaker) openUntil(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.probeAt) {
		return b.probeAt
	}
	return time.Time{}
}

// open reports whether the endpoint is taken to be down.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.probeAt.IsZero()
}

// forgottenAfter is how long after its probe was due an open breaker still counts
// as down: a probe that nobody makes means that there is nothing to send any more.
const forgottenAfter = 5 * time.Minute

// down reports whether the endpoint is taken to be down by attempts of late.
func (b *breaker) down(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.probeAt.IsZero() && now.Sub(b.probeAt) < forgottenAfter
}

// trusted reports whether the endpoint answered well when it was last tried.
func (b *breaker) trusted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answers && b.weight == 0
}

// succeeded reports an attempt that was answered well, and whether the breaker has
// closed by it.
func (b *breaker) succeeded() (closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	closed = !b.probeAt.IsZero()
	b.weight, b.opens, b.since, b.probeAt, b.answers = 0, 0, time.Time{}, time.Time{}, true
	b.endProbe()
	return closed
}

// failed reports an attempt that was not, what that weighs, and whether the breaker
// has opened by it. Pause is how long it stays open when it opens for the n-th time in
// a row, from 1.
func (b *breaker) failed(p pass, weight int, now time.Time, pause func(n int) time.Duration) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.weight += weight
	switch {
	case p.probe:
		defer b.endProbe()
	case !b.probeAt.IsZero() || b.weight < breakAfter:
		return false // it is open already, or not yet
	}
	opened = b.probeAt.IsZero()
	b.opens++
	b.openedAt(now)
	b.probeAt = now.Add(min(pause(b.opens), longestBreak))
	return opened
}

func (b *breaker) openedAt(now time.Time) {
	if b.since.IsZero() {
		b.since = now
	}
}

// standing is when the breaker opened and when its next probe is due. ok is false
// while it is closed.
func (b *breaker) standing() (since, probeAt time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.since, b.probeAt, !b.probeAt.IsZero()
}

// hold keeps the breaker open until a time that the endpoint asked for.
func (b *breaker) hold(now, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.openedAt(now)
	if until.After(b.probeAt) {
		b.probeAt = until
	}
	b.endProbe()
}

// dropped reports a probe that was not made after all. It does nothing for a pass
// that was no probe, or was reported.
func (b *breaker) dropped(p *pass) {
	if !p.probe {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endProbe()
}

func (b *breaker) endProbe() {
	if b.probe != nil {
		close(b.probe)
		b.probe = nil
	}
}
