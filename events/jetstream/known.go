package jetstream

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
)

// Known returns the signals that an endpoint already has of one slice of the
// organization's homes. It is empty if nothing is stored.
func (c *Conn) Known(ctx context.Context, org, endpointID string, slice int) (events.Known, error) {
	known := events.Known{Signals: map[string]string{}}
	m, err := c.lastMessage(ctx, knownStream, knownSubject(org, endpointID, slice))
	if m == nil || err != nil {
		return known, err
	}
	known.Revision = m.Sequence
	err = json.Unmarshal(m.Data, &known)
	return known, err
}

// PutKnown stores an endpoint's known signals and replaces the state at known.Revision.
// Errors: storage.ErrConflict after a concurrent write, storage.ErrUnavailable.
func (c *Conn) PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) error {
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	_, err = c.publish(ctx, knownSubject(org, endpointID, slice), nuid.Next(), data, jetstream.WithExpectLastSequencePerSubject(known.Revision))
	return err
}
