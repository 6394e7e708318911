package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// IdempotencyHeader is the header with the idempotency key of a request.
const IdempotencyHeader = "Idempotency-Key"

// ErrOtherBody refuses a reused idempotency key with a different body.
var ErrOtherBody = NewProblem(CodeConflict, "The "+IdempotencyHeader+" was used before with another body.",
	"Send the same body to get the first response again, or use a new key.")

// Digest returns the SHA-256 of texts in hex. It separates each text from the next.
func Digest(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Fingerprint returns a digest of an input. It is the same for every JSON form of the
// input.
func Fingerprint(in any) (string, error) {
	text, err := json.Marshal(in)
	return Digest(string(text)), err
}

// Idempotent runs an operation with an idempotency key. For a repeated key, it returns
// the first response. A key belongs to the operation, its path and the organization, or to
// the client address of a caller without an API key. run gets made, the identifier of the
// resource to create. A second run with the same identifier must have no further effect. Two
// requests may run at the same time, and a repeat resumes an interrupted request.
func Idempotent[Out any](ctx context.Context, s *Server, c *Call, made string, in any, run func(made string) (Out, error)) (out Out, err error) {
	if c.IdempotencyKey == "" {
		return run(made)
	}
	print, err := Fingerprint(in)
	if err != nil {
		return out, err
	}
	owner, scope := c.Org, c.ID
	if c.anonymous() {
		owner, scope = storage.Shared, c.Client
	}
	now := storage.Time{Time: s.Store.Now()}
	request := storage.IdempotentRequest{
		ID: Digest(c.Operation, scope, c.IdempotencyKey), Fingerprint: print, Made: made,
		Base: storage.Base{OrganizationID: owner, CreatedAt: now, UpdatedAt: now},
	}
	first, revision, err := s.firstRequest(ctx, c, request)
	switch {
	case err != nil:
		return out, err
	case first.Fingerprint != print:
		return out, ErrOtherBody
	case first.Answer != nil:
		err = json.Unmarshal(first.Answer, &out)
		return out, err
	}
	if out, err = run(first.Made); err != nil {
		return out, err
	}
	completed := first
	if completed.Answer, err = json.Marshal(out); err != nil {
		return out, err
	}
	s.newKeys.charge(c.Payer(), len(completed.Answer)/KeyBytes, s.Store.Now())
	switch _, err = s.Requests.PutRequest(ctx, completed, revision); {
	case errors.Is(err, storage.ErrUnavailable): // run has stored the resource
		return out, fmt.Errorf("%w: %w", errOutcomeUnknown, err)
	case !errors.Is(err, storage.ErrConflict):
		return out, err
	}
	// The first stored response is the response to all requests with the key. If this
	// request outlived its key, another request is stored under the key and stays
	// unchanged.
	stored, _, err := s.Requests.Request(ctx, owner, request.ID)
	if err == nil && stored.Made == first.Made && stored.Answer != nil {
		err = json.Unmarshal(stored.Answer, &out)
	}
	return out, storage.IgnoreNotFound(err)
}

// firstRequest returns the unexpired request of the key with its revision. If there is
// none, it stores the request and returns it.
func (s *Server) firstRequest(ctx context.Context, c *Call, request storage.IdempotentRequest) (first storage.IdempotentRequest, revision uint64, err error) {
	const tries = 5
	now := request.CreatedAt.Time
	for range tries {
		first, revision, err = s.Requests.Request(ctx, request.OrganizationID, request.ID)
		if storage.IgnoreNotFound(err) != nil || err == nil && first.Known(now) {
			return first, revision, err
		}
		if err := s.takeNewKey(c, now); err != nil {
			return first, 0, err
		}
		// The revision is 0, or belongs to an expired request that is replaced.
		revision, err = s.Requests.PutRequest(ctx, request, revision)
		if !errors.Is(err, storage.ErrConflict) {
			return request, revision, err
		}
	}
	return first, revision, storage.ErrConflict
}

// KeyBytes is the size in bytes that a stored idempotency key has. One with a larger response
// counts as several keys.
const KeyBytes = 4 << 10

// anonymousShare divides the daily idempotency keys of an organization into the keys of a
// client address without an API key.
const anonymousShare = 100

// takeNewKey takes a new idempotency key from the share of the payer. A caller without an
// API key also takes it from the share of its client address, and all such callers have the
// share of one organization. All payers share one store, and its oldest keys go first.
// Without shares, one payer could make it forget the keys of another.
func (s *Server) takeNewKey(c *Call, now time.Time) error {
	whose := "organization"
	if c.anonymous() {
		if wait := s.anonymousKeys.take(c.Client, now); wait > 0 {
			return errNewKeys("client address", s.anonymousKeys.burst, wait)
		}
		whose = "group of clients without an API key"
	}
	if wait := s.newKeys.take(c.Payer(), now); wait > 0 {
		return errNewKeys(whose, s.newKeys.burst, wait)
	}
	return nil
}
