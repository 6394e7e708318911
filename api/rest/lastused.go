package rest

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// LastUsed records when keys were last used. A request only updates memory. Run stores
// the new times once a minute. A key therefore costs at most one write per minute and
// process. If the process is killed, at most one minute of updates is lost.
type LastUsed struct {
	store *storage.Store
	log   *slog.Logger

	mu      sync.Mutex
	pending map[storage.Ref]time.Time
}

// NewLastUsed returns a LastUsed for a store. Nothing is stored until Run is called.
func NewLastUsed(store *storage.Store, log *slog.Logger) *LastUsed {
	return &LastUsed{store: store, log: log, pending: map[storage.Ref]time.Time{}}
}

// Interval between flushes, and timeout of the last flush.
const (
	flushInterval = time.Minute
	flushTimeout  = 5 * time.Second
)

// note records a use of a valid key. The number of valid keys bounds the memory. A nil
// LastUsed records nothing.
func (u *LastUsed) note(key *storage.Key, at time.Time) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pending[storage.KindKeyUse.Ref(key.OrganizationID, key.ID)] = at
}

// Run flushes periodically until ctx ends, and then once more. Each flush also retries the
// updates that the previous flush could not store.
func (u *LastUsed) Run(ctx context.Context) error {
	_ = periodic.Run(ctx, flushInterval, u.log, "store the last uses of keys", u.Flush) // always nil
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	return u.Flush(last)
}

// Flush stores the new times. Errors: storage.ErrUnavailable.
func (u *LastUsed) Flush(ctx context.Context) error {
	u.mu.Lock()
	pending := maps.Clone(u.pending)
	u.mu.Unlock()
	var newer []storage.Entity
	err := u.store.View(func(v storage.View) error {
		for ref, at := range pending {
			if _, _, err := storage.Read[storage.Key](v, storage.Ref{Kind: storage.KindKey, Org: ref.Org, ID: ref.ID}); errors.Is(err, storage.ErrNotFound) {
				continue // the key of a console link that was removed
			}
			stored, _, err := storage.Read[storage.KeyUse](v, ref)
			if storage.NoRecord(err) {
				stored, err = storage.KeyUse{}, nil
			}
			if err != nil {
				return err
			}
			if at.After(stored.LastUsedAt.Time) { // another process may have stored a later time
				base := storage.Base{OrganizationID: ref.Org}
				newer = append(newer, &storage.KeyUse{KeyID: ref.ID, LastUsedAt: storage.Time{Time: at}, Base: base})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, result := range u.store.Upsert(ctx, newer) {
		if _, erased := errors.AsType[*storage.ErasedError](result.Err); result.Err != nil && !erased {
			delete(pending, newer[i].Ref())
			err = result.Err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.pending, func(ref storage.Ref, at time.Time) bool { return at.Equal(pending[ref]) }) // others are newer, or failed
	return err
}
