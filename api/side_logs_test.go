package api_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/storage"
)

// sideLogs is an in-memory storage.Requests, storage.FeedbackLog and storage.AuditLog. Its
// zero value is ready to use.
type sideLogs struct {
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
	_ storage.Requests    = (*sideLogs)(nil)
	_ storage.FeedbackLog = (*sideLogs)(nil)
	_ storage.AuditLog    = (*sideLogs)(nil)
)

// Request returns a request and its revision.
func (l *sideLogs) Request(_ context.Context, org, id string) (storage.IdempotentRequest, uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.requests[requestKey{org, id}]
	if !ok {
		return r.IdempotentRequest, 0, storage.ErrNotFound
	}
	return r.IdempotentRequest, r.revision, nil
}

// PutRequest stores a request if the stored revision is expect.
func (l *sideLogs) PutRequest(_ context.Context, o storage.IdempotentRequest, expect uint64) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.requests[requestKey{o.OrganizationID, o.ID}].revision != expect {
		return 0, storage.ErrConflict
	}
	if l.requests == nil {
		l.requests = map[requestKey]storedRequest{}
	}
	l.written++
	l.requests[requestKey{o.OrganizationID, o.ID}] = storedRequest{o, l.written}
	return l.written, nil
}

// PutFeedback stores a submission unless its identifier exists.
func (l *sideLogs) PutFeedback(_ context.Context, f storage.Feedback) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, found := slices.BinarySearchFunc(l.feedback, f.ID, func(f storage.Feedback, id string) int { return strings.Compare(f.ID, id) })
	if !found {
		l.feedback = slices.Insert(l.feedback, at, f)
	}
	return nil
}

// Feedback returns submissions, the oldest first.
func (l *sideLogs) Feedback(_ context.Context, after string, limit int) ([]storage.Feedback, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []storage.Feedback{}
	for _, f := range l.feedback {
		if f.ID > after && len(list) < limit {
			list = append(list, f)
		}
	}
	return list, nil
}

// DeleteFeedback removes a submission.
func (l *sideLogs) DeleteFeedback(_ context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.feedback, func(f storage.Feedback) bool { return f.ID == id })
	if i < 0 {
		return storage.ErrNotFound
	}
	l.feedback = slices.Delete(l.feedback, i, i+1)
	return nil
}

// PutAudit stores an entry.
func (l *sideLogs) PutAudit(_ context.Context, e storage.AuditEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.audit = append(l.audit, e)
	return nil
}

// Audit returns all entries, the newest first. It knows no filter and no page.
func (l *sideLogs) Audit(context.Context, storage.AuditFilter, string, int) ([]storage.AuditEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.audit)
	slices.Reverse(list)
	return list, nil
}
