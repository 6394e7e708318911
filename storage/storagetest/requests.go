package storagetest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/storage"
)

// Aside is an in-memory storage.Requests, storage.FeedbackLog and storage.AuditLog. Its
// zero value is ready to use.
type Aside struct {
	mu       sync.Mutex
	written  uint64
	requests map[requestKey]storedRequest
	feedback []storage.Feedback
	audit    []storage.AuditEntry
}

type requestKey struct{ org, id string }

type storedRequest struct {
	storage.IdempotentRequest
	revision uint64
}

var (
	_ storage.Requests    = (*Aside)(nil)
	_ storage.FeedbackLog = (*Aside)(nil)
	_ storage.AuditLog    = (*Aside)(nil)
)

// Request returns a request and its revision.
func (a *Aside) Request(_ context.Context, org, id string) (storage.IdempotentRequest, uint64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.requests[requestKey{org, id}]
	if !ok {
		return r.IdempotentRequest, 0, storage.ErrNotFound
	}
	return r.IdempotentRequest, r.revision, nil
}

// PutRequest stores a request if the stored revision is expect.
func (a *Aside) PutRequest(_ context.Context, o storage.IdempotentRequest, expect uint64) (uint64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.requests[requestKey{o.OrganizationID, o.ID}].revision != expect {
		return 0, storage.ErrConflict
	}
	if a.requests == nil {
		a.requests = map[requestKey]storedRequest{}
	}
	a.written++
	a.requests[requestKey{o.OrganizationID, o.ID}] = storedRequest{o, a.written}
	return a.written, nil
}

// PutFeedback stores a submission unless its identifier exists.
func (a *Aside) PutFeedback(_ context.Context, f storage.Feedback) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, found := slices.BinarySearchFunc(a.feedback, f.ID, func(f storage.Feedback, id string) int { return strings.Compare(f.ID, id) })
	if !found {
		a.feedback = slices.Insert(a.feedback, at, f)
	}
	return nil
}

// Feedback returns submissions, the oldest first.
func (a *Aside) Feedback(_ context.Context, after string, limit int) ([]storage.Feedback, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []storage.Feedback{}
	for _, f := range a.feedback {
		if f.ID > after && len(list) < limit {
			list = append(list, f)
		}
	}
	return list, nil
}

// PutAudit stores an entry.
func (a *Aside) PutAudit(_ context.Context, e storage.AuditEntry) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.audit = append(a.audit, e)
	return nil
}

// Audit returns all entries, the newest first. It knows no filter and no page.
func (a *Aside) Audit(context.Context, storage.AuditFilter, string, int) ([]storage.AuditEntry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Clone(a.audit)
	slices.Reverse(list)
	return list, nil
}
