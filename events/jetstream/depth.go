package jetstream

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Depth is the number of messages in the queues.
type Depth struct {
	// Slices counts slices queued or in flight, one for each running trigger and slot.
	Slices uint64
	// RetriesWaiting counts retries that wait or are due.
	RetriesWaiting uint64
	// Unstarted counts accepted triggers whose walk has not begun.
	Unstarted uint64
	// DeadLetters counts messages that could not be processed.
	DeadLetters uint64
	// State is the last revision of the log of record.
	State uint64
}

// Depth reads the depth of all queues from the server.
func (c *Conn) Depth(ctx context.Context) (Depth, error) {
	var d Depth
	var errs []error
	read := func(stream string, into *uint64, of func(jetstream.StreamState) uint64) {
		s, err := c.js.Stream(ctx, stream)
		if err != nil {
			errs = append(errs, err)
			return
		}
		*into = of(s.CachedInfo().State)
	}
	messages := func(s jetstream.StreamState) uint64 { return s.Msgs }
	read(workStream, &d.Slices, messages)
	read(retriesStream, &d.RetriesWaiting, messages)
	read(DeadStream, &d.DeadLetters, messages)
	read(stateStream, &d.State, func(s jetstream.StreamState) uint64 { return s.LastSeq })
	consumer, err := c.js.Consumer(ctx, triggersStream, startQueue.name)
	switch {
	case err == nil:
		info := consumer.CachedInfo()
		d.Unstarted = info.NumPending + uint64(info.NumAckPending) //nolint:gosec // a count
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		errs = append(errs, err)
	}
	return d, errors.Join(errs...)
}
