package api

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Estimates are the turns at which estimates of savings are worked on. An estimate
// is tens of milliseconds of pure work, and nobody waits for it as a receiver waits
// for prices: so a process works on few at once, and while it sends webhooks it
// gives estimates a tenth of a processor each.
type Estimates struct {
	places chan struct{}
	// sent counts the webhooks that the process has sent.
	sent func() uint64
}

// Between two pieces of work of which one lasted d, an estimate rests for yielding
// times d when webhooks were sent meanwhile, and no longer than longestRest, so that
// a piece held up by something else does not count as work.
const (
	yielding    = 9
	longestRest = 50 * time.Millisecond
)

// NewEstimates makes turns for so many estimates at once; 0 is half as many as there
// are processors. sent may be nil where no webhooks are sent.
func NewEstimates(atOnce int, sent func() uint64) *Estimates {
	if sent == nil {
		sent = func() uint64 { return 0 }
	}
	return &Estimates{places: make(chan struct{}, positive(atOnce, max(1, runtime.GOMAXPROCS(0)/2))), sent: sent}
}

// errNoTurn is UNAVAILABLE to the caller. It comes with why the time was up.
var errNoTurn = errors.New("too many estimates are asked for")

func noTurn(ctx context.Context) error { return fmt.Errorf("%w: %w", errNoTurn, context.Cause(ctx)) }

// turn waits for a place and returns what gives it back, and what lets webhooks go
// first between two pieces of the work. Errors, of both: errNoTurn when ctx ends before.
func (e *Estimates) turn(ctx context.Context) (done func(), rest func() error, err error) {
	select {
	case e.places <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, noTurn(ctx)
	}
	began, before := time.Now(), e.sent()
	rest = func() error {
		if e.sent() != before {
			timer := time.NewTimer(min(yielding*time.Since(began), longestRest))
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return noTurn(ctx)
		}
		began, before = time.Now(), e.sent()
		return nil
	}
	return func() { <-e.places }, rest, nil
}
