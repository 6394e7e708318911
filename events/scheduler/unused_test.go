package scheduler

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// TestRelays_Unused deletes a relay endpoint an hour after a client last began to listen,
// and no other endpoint.
func TestRelays_Unused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if err := w.store.Create(t.Context(), &storage.Organization{ID: "org", Name: "Org"}); err != nil && !errors.Is(err, storage.ErrExists) {
			t.Fatal(err)
		}
		for id, url := range map[string]string{"relay": storage.RelayURL, "other": "https://acme.example/"} {
			e := storage.NewWebhookEndpoint("org")
			e.ID, e.URL = id, url
			w.put(&e)
		}
		stop := w.fleet(1)
		count := func() (n int) {
			_ = w.store.View(func(v storage.View) error { // the function returns no error
				n = v.Count(storage.KindWebhookEndpoint, "org")
				return nil
			})
			return n
		}
		pass(50 * minute)
		if err := w.store.Touch(t.Context(), storage.KindWebhookEndpoint.Ref("org", "relay")); err != nil {
			t.Fatal(err)
		}
		pass(55 * minute)
		if count() != 2 {
			t.Error("the endpoint is deleted before its retention")
		}
		pass(time.Hour)
		if count() != 1 {
			t.Errorf("%d endpoints are left, want the other one", count())
		}
		stop()
	})
}

// TestKeys_Ended deletes a key 30 days after its end, the key of a link at once, and no key
// that is live.
func TestKeys_Ended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if err := w.store.Create(t.Context(), &storage.Organization{ID: "org", Name: "Org"}); err != nil && !errors.Is(err, storage.ErrExists) {
			t.Fatal(err)
		}
		now := time.Now()
		put := func(id string, change func(*storage.Key)) {
			k, _ := storage.NewKey("org", now)
			k.ID = id
			change(&k)
			w.put(&k)
			w.put(&storage.KeyUse{KeyID: id, LastUsedAt: storage.Time{Time: now}, Base: storage.Base{OrganizationID: "org"}})
		}
		const day = 24 * time.Hour
		at := func(d time.Duration) storage.Time { return storage.Time{Time: now.Add(d)} }
		put("live", func(*storage.Key) {})
		put("late", func(k *storage.Key) { k.ExpiresAt = at(300 * day) })
		put("revoked", func(k *storage.Key) { k.RevokedAt, k.ExpiresAt = at(0), at(300*day) })
		put("expired", func(k *storage.Key) { k.ExpiresAt = at(2 * day) })
		put("link", func(k *storage.Key) { k.Link, k.ExpiresAt = true, at(time.Minute) })
		stop := w.fleet(1)
		left := func() (ids string) {
			keys, err := storage.Query(w.store, func(v storage.View) ([]storage.Key, error) {
				return storage.ReadList[storage.Key](v, storage.KindKey, "org", "", 10, func(err error) { t.Error(err) })
			})
			if err != nil {
				t.Fatal(err)
			}
			uses, err := storage.Query(w.store, func(v storage.View) ([]storage.KeyUse, error) {
				return storage.ReadList[storage.KeyUse](v, storage.KindKeyUse, "org", "", 10, func(err error) { t.Error(err) })
			})
			if err != nil || len(uses) != len(keys) {
				t.Errorf("%d keys, %d last uses, %v", len(keys), len(uses), err)
			}
			for i := range keys {
				ids += keys[i].ID + " "
			}
			return ids
		}
		for _, step := range []struct {
			wait time.Duration
			want string
		}{{day, "expired late live revoked "}, {29*day + time.Hour, "expired late live "}, {2 * day, "late live "}} {
			w.ahead.Add(int64(step.wait - 2*unusedEvery))
			pass(2 * unusedEvery)
			if got := left(); got != step.want {
				t.Errorf("after %s more the keys are %q, want %q", step.wait, got, step.want)
			}
		}
		stop()
	})
}
