package api

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// Estimates limits the concurrency of savings estimates. An estimate takes tens of
// milliseconds of CPU time and is less urgent than a webhook. A process therefore runs
// few estimates at once. While the process sends webhooks, each estimate uses at most a
// tenth of a processor. Organizations get slots in rotation. An organization with many
// estimates does not delay another organization by all of them.
type Estimates struct {
	mu   sync.Mutex
	free int
	// waiting has each organization's queued estimates, oldest first. Closing a channel
	// grants its estimate a slot. order has the organizations, the next organization
	// first.
	waiting map[string][]chan struct{}
	order   []string
	// sent returns the number of webhooks that the process has sent.
	sent func() uint64

	stopping context.Context //nolint:containedctx // of all estimates
	stop     context.CancelFunc
}

// Pauses of an estimate. After a piece of work of duration d, an estimate pauses for
// yielding times d if webhooks were sent meanwhile. The pause is at most longestRest,
// because a delayed piece of work may take longer than its CPU time.
const (
	yielding    = 9
	longestRest = 50 * time.Millisecond
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
	e := &Estimates{free: rest.Positive(atOnce, max(1, runtime.GOMAXPROCS(0)/2)), waiting: map[string][]chan struct{}{}, sent: sent}
	e.stopping, e.stop = context.WithCancel(context.Background())
	return e
}

// Stop cancels all queued and running estimates. A stopping process does not wait for
// them. Callers get an error that asks for a retry.
func (e *Estimates) Stop() { e.stop() }

// errNoTurn becomes UNAVAILABLE in the response. noTurn wraps it with the cause of the
// timeout.
var errNoTurn = errors.New("too many estimates are asked for")

func noTurn(ctx context.Context) error { return fmt.Errorf("%w: %w", errNoTurn, context.Cause(ctx)) }

// errWaiting refuses an estimate of an organization with maxWaiting queued estimates.
var errWaiting = rest.NewProblem(rest.CodeRateLimited, fmt.Sprintf("The organization has %d savings estimates waiting, which is the limit.", maxWaiting),
	"Retry after retry_after_seconds, and send fewer requests at once.").After(1)

// await waits for a free slot. Errors: errWaiting, or errNoTurn if ctx ends first.
func (e *Estimates) await(ctx context.Context, org string) error {
	e.mu.Lock()
	queue := e.waiting[org]
	switch {
	case e.free > 0: // then nobody waits
		e.free--
		e.mu.Unlock()
		return nil
	case len(queue) >= maxWaiting:
		e.mu.Unlock()
		return errWaiting
	case len(queue) == 0:
		e.order = append(e.order, org)
	}
	turn := make(chan struct{})
	e.waiting[org] = append(queue, turn)
	e.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		e.leave(org, turn)
		return noTurn(ctx)
	}
}

// leave removes an estimate from the queue. If the estimate already has a slot, leave
// releases the slot.
func (e *Estimates) leave(org string, turn chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.Index(e.waiting[org], turn)
	if i < 0 {
		e.release()
		return
	}
	if e.waiting[org] = slices.Delete(e.waiting[org], i, i+1); len(e.waiting[org]) == 0 {
		delete(e.waiting, org)
		e.order = slices.DeleteFunc(e.order, func(o string) bool { return o == org })
	}
}

// release gives a slot to the next organization. The caller holds mu.
func (e *Estimates) release() {
	if len(e.order) == 0 {
		e.free++
		return
	}
	org := e.order[0]
	e.order = e.order[1:]
	turn := e.waiting[org][0]
	if e.waiting[org] = e.waiting[org][1:]; len(e.waiting[org]) == 0 {
		delete(e.waiting, org)
	} else {
		e.order = append(e.order, org)
	}
	close(turn)
}

// turn waits for a slot of an organization. done releases the slot. rest yields to
// webhooks between two pieces of work. Both turn and rest return errNoTurn if ctx ends.
// turn may also return errWaiting.
func (e *Estimates) turn(ctx context.Context, org string) (done func(), rest func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(e.stopping, cancel)
	end := func() { unhook(); cancel() }
	if err := e.await(ctx, org); err != nil {
		end()
		return nil, nil, err
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
	return func() {
		e.mu.Lock()
		e.release()
		e.mu.Unlock()
		end()
	}, rest, nil
}
