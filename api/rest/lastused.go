package rest

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

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

// Run flushes periodically until ctx ends, and then once more.
func (u *LastUsed) Run(ctx context.Context) error {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			u.tryFlush(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			u.tryFlush(last)
			return nil
		}
	}
}

// tryFlush flushes and logs an error. The next flush retries the failed updates.
func (u *LastUsed) tryFlush(ctx context.Context) {
	if err := u.Flush(ctx); err != nil && ctx.Err() == nil {
		u.log.Warn("last use of keys not stored, retrying", "error", err)
	}
}

// Flush stores the new times. Errors: storage.ErrUnavailable.
func (u *LastUsed) Flush(ctx context.Context) error {
	pending := u.drain()
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
		u.restore(pending)
		return err
	}
	for i, result := range u.store.Upsert(ctx, newer) {
		if _, erased := errors.AsType[*storage.ErasedError](result.Err); result.Err != nil && !erased {
			ref := newer[i].Ref()
			u.restore(map[storage.Ref]time.Time{ref: pending[ref]})
			err = result.Err
		}
	}
	return err
}

func (u *LastUsed) drain() map[storage.Ref]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	pending := u.pending
	u.pending = make(map[storage.Ref]time.Time, len(pending))
	return pending
}

// restore restores updates that could not be stored, unless a newer update exists.
func (u *LastUsed) restore(pending map[storage.Ref]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(pending, func(ref storage.Ref, _ time.Time) bool {
		_, newer := u.pending[ref]
		return newer
	})
	maps.Copy(u.pending, pending)
}
