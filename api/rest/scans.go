package rest

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gridhook/gridhook/events/turns"
	"github.com/gridhook/gridhook/storage"
)

// scans limits long reads: those of all records of a kind in an organization, of its
// deliveries, and of a month of prices. One takes up to a second of processor time, and a key
// may request a hundred a second. Without a limit they would delay the requests of the other
// organizations, and the webhooks.
type scans struct {
	// slots are twice the processors. A payer that is alone has half of them.
	slots *turns.Turns
	// entrants counts the queued and running scans of each payer.
	entrants Shares

	stopping context.Context //nolint:containedctx // of all long reads that wait
	stop     context.CancelFunc
}

// maxScans is the maximum number of queued and running scans of a payer.
const maxScans = 128

// errScans refuses a scan beside maxScans others.
var errScans = NewProblem(CodeRateLimited, fmt.Sprintf("The organization has %d long reads waiting, which is the limit.", maxScans),
	"Retry after retry_after_seconds, and send fewer requests at once.").After(1)

func newScans() scans {
	n := runtime.GOMAXPROCS(0)
	stopping, stop := context.WithCancel(context.Background())
	return scans{slots: turns.New(2*n, n), stopping: stopping, stop: stop}
}

// StopReads ends the long reads that wait. A stopping process does not wait for them.
func (s *Server) StopReads() { s.scans.stop() }

// Scan is Store.View for a read whose work grows with the organization's records. Errors: also
// those of InTurn.
func (s *Server) Scan(ctx context.Context, c *Call, read func(storage.View) error) error {
	return s.InTurn(ctx, c, func() error { return s.Store.View(read) })
}

// InTurn runs a long read. It waits until few others run, and organizations take turns. An
// operator does not wait. Errors: also errScans, and ErrUnavailable if ctx ends first or the process stops.
func (s *Server) InTurn(ctx context.Context, c *Call, read func() error) error {
	if c.Operator {
		return read()
	}
	payer := c.Payer()
	leave, err := s.scans.entrants.TakeOne(payer, maxScans, errScans)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.scans.stopping, cancel)()
	if _, err := s.scans.slots.Acquire(ctx, payer, 1); err != nil {
		return fmt.Errorf("%w: no slot for a long read: %w", ErrUnavailable, err)
	}
	defer s.scans.slots.Release(payer, 1)
	return read()
}
