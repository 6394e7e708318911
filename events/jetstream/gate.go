package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/events/periodic"
)

// Gate says what the process can take on now. SetGate sets it.
type Gate struct {
	// Refusal returns a storage.ErrUnavailable while nothing new may be stored. Outcomes of
	// accepted work are stored anyway.
	Refusal func() error
	// Stuck reports whether no outcome can be stored. The process then handles no message.
	// A webhook without a stored receipt is sent again: with a full disk, that would repeat
	// until space is free.
	Stuck func() bool
}

// openGate is the gate of a connection without a SetGate.
var openGate = Gate{Refusal: func() error { return nil }, Stuck: func() bool { return false }}

// SetGate sets the gate. Call it before the connection is used.
func (c *Conn) SetGate(g Gate) { c.gate = g }

var errStuck = errors.New("the outcome cannot be stored now")

// stuckPoll is the interval at which a waiting message asks the gate.
const stuckPoll = 250 * time.Millisecond

// wait returns nil once outcomes can be stored, or an error if the worker stops earlier.
func (g Gate) wait(ctx, taking context.Context) error {
	for g.Stuck() {
		if periodic.Wait(ctx, stuckPoll, taking.Done()); ctx.Err() != nil || taking.Err() != nil {
			return errStuck
		}
	}
	return nil
}
