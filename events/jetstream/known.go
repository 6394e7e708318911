package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Known is what an endpoint is known to have of a slice of its organization's
// homes, empty when nothing is known.
func (c *Conn) Known(ctx context.Context, org, endpointID string, slice int) (events.Known, error) {
	known := events.Known{Signals: map[string]string{}}
	ctx, cancel := context.WithTimeout(ctx, publishWait)
	defer cancel()
	s, err := c.handle(ctx, knownStream)
	if err != nil {
		return known, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, knownSubject(org, endpointID, slice))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return known, nil
	case err != nil:
		return known, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	known.Revision = m.Sequence
	err = json.Unmarshal(m.Data, &known)
	return known, err
}

// PutKnown stores what an endpoint is known to have, in place of the state that
// known was read from. Errors: storage.ErrConflict when somebody else wrote in
// between, storage.ErrUnavailable.
func (c *Conn) PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) error {
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	_, err = c.publish(ctx, knownSubject(org, endpointID, slice), nuid.Next(), data, jetstream.WithExpectLastSequencePerSubject(known.Revision))
	return err
}
