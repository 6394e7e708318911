package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/events/turns"
)

// Estimates limits the concurrency of savings estimates. An estimate takes tens of
// milliseconds of CPU time and is less urgent than a webhook. A process therefore runs
// few estimates at once. While the process sends webhooks, each estimate uses at most a
// fifth of a processor. Organizations get slots in rotation. An organization with many
// estimates does not delay another organization by all of them.
type Estimates struct {
	// atOnce is the number of slots. entrants counts the queued and running estimates.
	atOnce   int
	slots    *turns.Turns
	entrants rest.Shares // by organization
	// sent returns the number of webhooks that the process has sent.
	sent func() uint64

	stopping context.Context //nolint:containedctx // of all estimates
	stop     context.CancelFunc
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
	n := cmp.Or(atOnce, max(1, min(runtime.NumCPU(), runtime.GOMAXPROCS(0))/2))
	e := &Estimates{atOnce: n, slots: turns.New(n, n), sent: sent}
	e.stopping, e.stop = context.WithCancel(context.Background())
	return e
}

// Stop cancels all queued and running estimates. A stopping process does not wait for
// them. Callers get an error that asks for a retry.
func (e *Estimates) Stop() { e.stop() }

// errNoSlot becomes UNAVAILABLE in the response. noSlot wraps it with the cause of the
// timeout.
var errNoSlot = errors.New("no free slot for an estimate")

func noSlot(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errNoSlot, cmp.Or(context.Cause(ctx), context.Canceled))
}

// errWaiting refuses an estimate of an organization with maxWaiting queued estimates.
var errWaiting = rest.NewProblem(rest.CodeRateLimited, fmt.Sprintf("The organization has %d savings estimates waiting, which is the limit.", maxWaiting),
	"Retry after retry_after_seconds, and send fewer requests at once.").After(1)

// await waits for a free slot. Errors: errWaiting, or errNoSlot if ctx ends first.
func (e *Estimates) await(ctx context.Context, org string) (release func(), err error) {
	leave, err := e.entrants.TakeOne(org, int64(maxWaiting+e.atOnce), errWaiting)
	if err != nil {
		return nil, err
	}
	if _, err := e.slots.Acquire(ctx, org, 1); err != nil {
		leave()
		return nil, noSlot(ctx)
	}
	return func() { e.slots.Release(org, 1); leave() }, nil
}

// turn waits for a slot of an organization. done releases the slot. rest yields to
// webhooks between two pieces of work. Both turn and rest return errNoSlot if ctx ends.
// turn may also return errWaiting.
func (e *Estimates) turn(ctx context.Context, org string) (done func(), rest func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(e.stopping, cancel)
	end := func() { unhook(); cancel() }
	release, err := e.await(ctx, org)
	if err != nil {
		end()
		return nil, nil, err
	}
	began, before := time.Now(), e.sent()
	var sending time.Time // when a webhook was last seen to be sent
	rest = func() error {
		if sent := e.sent(); sent != before {
			before, sending = sent, time.Now()
		}
		if time.Since(sending) < sendingFor {
			periodic.Sleep(ctx, min(yielding*time.Since(began), longestRest))
		} else {
			// Otherwise the estimate keeps a processor for up to 10 ms while requests wait.
			runtime.Gosched()
		}
		// The cancellation of ctx follows stopping in a goroutine of its own.
		if ctx.Err() != nil || e.stopping.Err() != nil {
			return noSlot(ctx)
		}
		began = time.Now()
		return nil
	}
	return func() { release(); end() }, rest, nil
}
