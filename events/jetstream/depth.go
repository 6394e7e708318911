package jetstream

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Depth is how much waits in the queues.
type Depth struct {
	// Slices are queued or in flight, one for each running trigger and slot.
	Slices uint64
	// RetriesWaiting are retries that wait or are due.
	RetriesWaiting uint64
	// Unstarted are accepted triggers whose walk has not begun.
	Unstarted uint64
	// State is the last revision of the log of record.
	State uint64
}

// Depth asks the server how much waits.
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
