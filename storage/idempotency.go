package storage

import (
	"context"
	"encoding/json"
	"time"
)

// IdempotencyRetention is the retention of idempotency keys.
const IdempotencyRetention = 24 * time.Hour

// IdempotentRequest is a request with an idempotency key of the caller, so that a repeat has
// no second effect. It is stored before the request takes effect. The response is added
// afterwards.
// A repeat resumes a request that was interrupted in between.
type IdempotentRequest struct {
	// ID consists of the operation and the caller's key.
	ID string `json:"id"`
	// Fingerprint distinguishes request bodies.
	Fingerprint string `json:"fingerprint"`
	// Made is the identifier of the entity that the request creates. It is the same in
	// every attempt.
	Made string `json:"made,omitempty"`
	// Answer is the first response, nil until there is one.
	Answer json.RawMessage `json:"answer,omitempty"`
	Base
}

// Requests stores idempotency keys for IdempotencyRetention, in a stream of their own and
// not in the log of record. Nobody needs them afterwards, and no replica reads them.
type Requests interface {
	// Request returns a request and its revision. Errors: ErrNotFound, ErrUnavailable.
	Request(ctx context.Context, org, id string) (IdempotentRequest, uint64, error)
	// PutRequest stores a request and returns its new revision when it is durable. expect
	// is the revision that the request must have now, 0 for none. Errors: ErrConflict,
	// ErrUnavailable.
	PutRequest(ctx context.Context, o IdempotentRequest, expect uint64) (uint64, error)
}

// Known reports whether the request's idempotency key is still valid at a time.
func (o *IdempotentRequest) Known(now time.Time) bool {
	return now.Before(o.CreatedAt.Add(IdempotencyRetention))
}
