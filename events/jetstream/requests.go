package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// Each request has its own subject. If two requests with the same idempotency key arrive
// together, one is stored, and the other finds it.
const (
	requestsStream = "GRIDHOOK_REQUESTS"
	requestPrefix  = "gridhook.requests."
)

var _ storage.Requests = (*Conn)(nil)

// Request returns a stored request and its revision. Errors: storage.ErrNotFound,
// storage.ErrUnavailable.
func (c *Conn) Request(ctx context.Context, org, id string) (o storage.IdempotentRequest, revision uint64, err error) {
	o, revision, err = lastValue[storage.IdempotentRequest](ctx, c, requestsStream, requestPrefix+org+"."+id)
	if err == nil && revision == 0 {
		err = storage.ErrNotFound
	}
	o.OrganizationID = org
	return o, revision, err
}

// PutRequest stores a request and replaces the stored request at the expected revision.
// Errors: storage.ErrConflict, storage.ErrUnavailable.
func (c *Conn) PutRequest(ctx context.Context, o storage.IdempotentRequest, expect uint64) (uint64, error) {
	return c.publish(ctx, requestPrefix+o.OrganizationID+"."+o.ID, o, jetstream.WithExpectLastSequencePerSubject(expect))
}
