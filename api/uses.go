package api

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// KeyUses notes when keys are used. A request leaves its time in memory, which
// costs next to nothing; Run stores what is new once a minute, so that a key
// costs at most one write a minute and process, however much it is used. What a
// process that is killed had not stored is lost: a minute at most.
type KeyUses struct {
	store *storage.Store
	log   *slog.Logger

	mu    sync.Mutex
	noted map[storage.Ref]time.Time
}

// NewKeyUses stores by store. Run must run for anything to be stored.
func NewKeyUses(store *storage.Store, log *slog.Logger) *KeyUses {
	return &KeyUses{store: store, log: log, noted: map[storage.Ref]time.Time{}}
}

// How often uses are stored, and how long the last time may take.
const (
	usesEvery = time.Minute
	usesWait  = 5 * time.Second
)

// note notes a use of a key that is valid: there are no more of these than keys.
// A nil KeyUses notes nothing.
func (u *KeyUses) note(key *storage.Key, at time.Time) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.noted[storage.KeyUseRef(key.OrganizationID, key.ID)] = at
}

// Run stores uses until ctx ends, and then once more.
func (u *KeyUses) Run(ctx context.Context) error {
	tick := time.NewTicker(usesEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			u.tryFlush(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), usesWait)
			defer cancel()
			u.tryFlush(last)
			return nil
		}
	}
}

// tryFlush leaves what could not be stored for the next time.
func (u *KeyUses) tryFlush(ctx context.Context) {
	if err := u.Flush(ctx); err != nil && ctx.Err() == nil {
		u.log.Warn("when keys were last used could not be stored", "error", err)
	}
}

// Flush stores what is new. Errors: storage.ErrUnavailable.
func (u *KeyUses) Flush(ctx context.Context) error {
	noted := u.take()
	var newer []storage.Entity
	err := u.store.View(func(v storage.View) error {
		for ref, at := range noted {
			stored, _, err := storage.Read[storage.KeyUse](v, ref)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if at.After(stored.LastUsedAt.Time) { // another process may have seen a later one
				base := storage.Base{OrganizationID: ref.Org}
				newer = append(newer, &storage.KeyUse{KeyID: ref.ID, LastUsedAt: storage.Time{Time: at}, Base: base})
			}
		}
		return nil
	})
	if err != nil {
		u.giveBack(noted)
		return err
	}
	for i, result := range u.store.Upsert(ctx, newer) {
		if result.Err != nil {
			ref := newer[i].Ref()
			u.giveBack(map[storage.Ref]time.Time{ref: noted[ref]})
			err = result.Err
		}
	}
	return err
}

func (u *KeyUses) take() map[storage.Ref]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	noted := u.noted
	u.noted = make(map[storage.Ref]time.Time, len(noted))
	return noted
}

// giveBack notes again what was not stored, where nothing newer is noted.
func (u *KeyUses) giveBack(noted map[storage.Ref]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(noted, func(ref storage.Ref, _ time.Time) bool {
		_, newer := u.noted[ref]
		return newer
	})
	maps.Copy(u.noted, noted)
}
