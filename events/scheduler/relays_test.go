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
		if err := w.store.Touch(t.Context(), storage.WebhookEndpointRef("org", "relay")); err != nil {
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
