package jetstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/storage"
)

// Each request has its own subject. If two requests with the same idempotency key arrive
// together, one is stored, and the other finds it.
const (
	requestsStream  = "GRIDHOOK_REQUESTS"
	requestPrefix   = "gridhook.requests."
	requestSubjects = requestPrefix + ">"
)

var _ storage.Requests = (*Conn)(nil)

// Request returns a stored request and its revision. Errors: storage.ErrNotFound,
// storage.ErrUnavailable.
func (c *Conn) Request(ctx context.Context, org, id string) (o storage.Once, revision uint64, err error) {
	m, err := c.lastMessage(ctx, requestsStream, requestPrefix+org+"."+id)
	switch {
	case err != nil:
		return o, 0, err
	case m == nil:
		return o, 0, storage.ErrNotFound
	}
	if err := json.Unmarshal(m.Data, &o); err != nil {
		return o, 0, fmt.Errorf("the stored request %s: %w", m.Subject, err)
	}
	o.OrganizationID = org
	return o, m.Sequence, nil
}

// PutRequest stores a request and replaces the stored request at the expected revision.
// Errors: storage.ErrConflict, storage.ErrUnavailable.
func (c *Conn) PutRequest(ctx context.Context, o storage.Once, expect uint64) (uint64, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	return c.publish(ctx, requestPrefix+o.OrganizationID+"."+o.ID, nuid.Next(), data, jetstream.WithExpectLastSequencePerSubject(expect))
}
