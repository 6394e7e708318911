package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
)

// Known returns the signals that an endpoint already has of one slice of the
// organization's homes. It is empty if nothing is stored.
func (c *Conn) Known(ctx context.Context, org, endpointID string, slice int) (events.Known, error) {
	known, sequence, err := lastValue[events.Known](ctx, c, knownStream, knownSubject(org, endpointID, slice))
	if known.Revision = sequence; known.Signals == nil {
		known.Signals = map[string]string{}
	}
	return known, err
}

// PutKnown stores an endpoint's known signals, replaces the state at known.Revision and
// returns the new revision. Errors: storage.ErrConflict after a concurrent write,
// storage.ErrUnavailable.
func (c *Conn) PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) (revision uint64, err error) {
	return c.publish(ctx, knownSubject(org, endpointID, slice), known, jetstream.WithExpectLastSequencePerSubject(known.Revision))
}
