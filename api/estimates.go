package api

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events/periodic"
)

// Estimates limits the concurrency of savings estimates. An estimate takes tens of
// milliseconds of CPU time and is less urgent than a webhook. A process therefore runs
// few estimates at once. While the process sends webhooks, each estimate uses at most a
// fifth of a processor. Organizations get slots in rotation. An organization with many
// estimates does not delay another organization by all of them.
type Estimates struct {
	*rest.Queue
	// sent returns the number of webhooks that the process has sent.
	sent func() uint64
}

// Pauses of an estimate. After a piece of work of duration d, an estimate pauses for
// yielding times d if webhooks were sent within sendingFor. A piece takes a millisecond or
// two, and often none is sent meanwhile although many wait. The pause is at most longestRest,
// because a delayed piece of work may take longer than its CPU time.
const (
	yielding    = 4
	longestRest = 50 * time.Millisecond
	sendingFor  = 200 * time.Millisecond
)

// maxWaiting is the maximum number of queued estimates of one organization. A process
// completes about this many before the first of them times out.
const maxWaiting = 128

// NewEstimates allows atOnce concurrent estimates. If atOnce is 0, the limit is half the
// number of processors. sent may be nil if the process sends no webhooks.
func NewEstimates(atOnce int, sent func() uint64) *Estimates {
	if sent == nil {
		sent = func() uint64 { return 0 }
	}
	n := cmp.Or(atOnce, rest.HalfOfProcessors())
	return &Estimates{rest.NewQueue(n, n, int64(maxWaiting+n), errWaiting), sent}
}

// errWaiting refuses an estimate of an organization with maxWaiting queued estimates.
var errWaiting = rest.NewProblem(rest.CodeRateLimited, fmt.Sprintf("The organization has %d savings estimates waiting, which is the limit.", maxWaiting),
	"Retry after retry_after_seconds, and send fewer requests at once.").After(1)

// turn waits for a slot of an organization. done releases the slot. yield yields to
// webhooks between two pieces of work. Both return ErrUnavailable if ctx ends. Errors: see
// Queue.Enter.
func (e *Estimates) turn(ctx context.Context, org string) (done func(), yield func() error, err error) {
	ctx, done, err = e.Enter(ctx, org)
	if err != nil {
		return nil, nil, err
	}
	began, before := time.Now(), e.sent()
	var sending time.Time // when a webhook was last seen to be sent
	yield = func() error {
		if sent := e.sent(); sent != before {
			before, sending = sent, time.Now()
		}
		if time.Since(sending) < sendingFor {
			periodic.Sleep(ctx, min(yielding*time.Since(began), longestRest))
		} else {
			// Otherwise the estimate keeps a processor for up to 10 ms while requests wait.
			runtime.Gosched()
		}
		// The cancellation of ctx follows the stop in a goroutine of its own.
		if ended := cmp.Or(ctx.Err(), e.Stopping().Err()); ended != nil {
			return fmt.Errorf("%w: %w", rest.ErrUnavailable, ended)
		}
		began = time.Now()
		return nil
	}
	return done, yield, nil
}
