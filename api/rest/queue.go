package rest

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gridhook/gridhook/events/turns"
	"github.com/gridhook/gridhook/storage"
)

// Queue lets organizations take turns with work that needs much processor time.
type Queue struct {
	// Entrants counts the waiting and running work of each payer, at most most.
	Entrants Shares
	most     int64
	full     *Problem
	slots    *turns.Turns

	stopping context.Context //nolint:containedctx // of all work
	stop     context.CancelFunc
}

// NewQueue returns a queue with a number of slots. A payer that is alone may have alone of
// them. It gets full beside most other waiting and running work of its own.
func NewQueue(slots, alone int, most int64, full *Problem) *Queue {
	q := &Queue{slots: turns.New(slots, alone), most: most, full: full}
	q.stopping, q.stop = context.WithCancel(context.Background())
	return q
}

// Stop ends the wait and the contexts of all work. A stopping process does not wait for it.
func (q *Queue) Stop() { q.stop() }

// Stopping returns a context that ends with Stop.
func (q *Queue) Stopping() context.Context { return q.stopping }

// Enter waits for a slot of a payer until leave is called. working is ctx until the queue
// stops. Errors: the queue's full, and ErrUnavailable if ctx ends first or the queue stops.
func (q *Queue) Enter(ctx context.Context, payer string) (working context.Context, leave func(), err error) {
	exit, err := q.Entrants.TakeOne(payer, q.most, q.full)
	if err != nil {
		return nil, nil, err
	}
	working, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(q.stopping, cancel)
	end := func() { unhook(); cancel(); exit() }
	if _, err := q.slots.Acquire(working, payer, 1); err != nil {
		err = noSlot(working)
		end()
		return nil, nil, err
	}
	return working, func() { q.slots.Release(payer, 1); end() }, nil
}

// noSlot returns ErrUnavailable with the cause of the end of a context.
func noSlot(ctx context.Context) error {
	return fmt.Errorf("%w: no slot: %w", ErrUnavailable, context.Cause(ctx))
}

// maxReads is the maximum number of waiting and running long reads of a payer.
const maxReads = 128

// errReads refuses a long read beside maxReads others.
var errReads = NewProblem(CodeRateLimited, fmt.Sprintf("The organization has %d long reads waiting, which is the limit.", maxReads),
	"Retry after retry_after_seconds, and send fewer requests at once.").After(1)

// newReads returns the queue of long reads. They read all records of a kind in an
// organization, its deliveries, or a month of prices. One takes up to a second of processor
// time, and a key may request a hundred a second. An organization leaves half of the
// processors to the other requests and the webhooks. A request or a webhook passes through
// many goroutines, and each would wait for a processor.
func newReads() *Queue {
	n := HalfOfProcessors()
	return NewQueue(2*n, n, maxReads, errReads)
}

// HalfOfProcessors returns half of the number of processors, at least 1. A process may run more
// threads than the machine has processors.
func HalfOfProcessors() int { return max(1, min(runtime.NumCPU(), runtime.GOMAXPROCS(0))/2) }

// StopReads ends the wait of long reads. A stopping process does not wait for them.
func (s *Server) StopReads() { s.reads.Stop() }

// Scan is Store.View for a read whose work grows with the organization's records. Errors: see
// InTurn.
func (s *Server) Scan(ctx context.Context, c *Call, read func(storage.View) error) error {
	return s.InTurn(ctx, c, func() error { return s.Store.View(read) })
}

// InTurn runs a long read in turn with other organizations. An operator does not wait.
// Errors: see Queue.Enter, and the errors of read.
func (s *Server) InTurn(ctx context.Context, c *Call, read func() error) error {
	if !c.Operator {
		_, leave, err := s.reads.Enter(ctx, c.Payer())
		if err != nil {
			return err
		}
		defer leave()
	}
	return read()
}
