package gate

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
)

// rateLimit is the rate limit of one endpoint. Only the first request in the queue has a
// reservation. So a request that is dropped leaves its place to the next one: otherwise an
// endpoint with more deliveries than its limit admits would spend the limit on superseded
// signals.
type rateLimit struct {
	*rate.Limiter

	first chan struct{} // full while a request is the first in the queue
	// replaced is closed when another limit replaces this one.
	replaced chan struct{}
}

// lookEvery is how often the first request in the queue looks whether it still has deliveries.
const lookEvery = time.Minute

// ErrInterrupted says that the rate limit or the endpoint changed during the wait for the
// limit. The caller reads the endpoint again, and enters again if it still receives requests.
var ErrInterrupted = errors.New("the endpoint has changed")

// ErrClosed says that the gate was closed during the wait for a rate limit. Such a wait may
// be longer than the time in which a worker stops.
var ErrClosed = errors.New("the worker is stopping")

// spread waits until the rate limit admits a request. It does not wait if the breaker is
// open, because no request is made. Errors: the error of ctx, ErrInterrupted, ErrClosed.
func (e *Endpoint) spread(ctx context.Context, deliveries func() int) error {
	e.mu.Lock()
	limit := e.limit
	open := limit != nil && !e.breaker.openUntil(e.gate.opt.Now()).IsZero()
	e.mu.Unlock()
	if limit == nil || open {
		return nil
	}
	return limit.wait(ctx, e.gate.closing, deliveries)
}

// wait waits until the limit admits the deliveries of a request, or as many as it admits at
// once: the batch may have been made before the batch size was reduced. It does not wait for
// a request without deliveries.
func (l *rateLimit) wait(ctx context.Context, closing <-chan struct{}, deliveries func() int) error {
	if deliveries() == 0 {
		return nil
	}
	select {
	case l.first <- struct{}{}:
		defer func() { <-l.first }()
	case <-ctx.Done():
		return ctx.Err()
	case <-l.replaced:
		return ErrInterrupted
	case <-closing:
		return ErrClosed
	}
	for {
		now := time.Now()
		place := l.ReserveN(now, min(deliveries(), l.Burst()))
		delay := place.DelayFrom(now)
		if delay == 0 { // a timer would hold up the request until a busy processor looks at it
			return nil
		}
		look := min(delay, lookEvery)
		select {
		case <-time.After(look):
			if look == delay && deliveries() > 0 { // another reservation would lose the time by which the timer is late
				return nil
			}
			place.CancelAt(now.Add(look)) // after its time, a reservation cannot be canceled
		case <-ctx.Done():
			place.Cancel()
			return ctx.Err()
		case <-l.replaced:
			return ErrInterrupted
		case <-closing:
			return ErrClosed
		}
	}
}
