package storage_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestDeleteEach_ChangedMeanwhile checks that a relay endpoint that gets a URL after it was
// found unused is not deleted.
func TestDeleteEach_ChangedMeanwhile(t *testing.T) {
	now := storagetest.Start
	s, log, _ := storagetest.NewStore(func() time.Time { return now })
	first, second := storage.NewWebhookEndpoint("acme"), storage.NewWebhookEndpoint("acme")
	first.ID, first.URL, second.ID, second.URL = "a", storage.RelayURL, "b", storage.RelayURL
	storagetest.Put(t, s, organization("acme"), &first, &second)
	now = now.Add(storage.RelayRetention + time.Hour)
	unused, err := storage.Query(s, func(v storage.View) ([]storage.Record, error) { return storage.UnusedRelays(v, now) })
	if err != nil || len(unused) != 2 {
		t.Fatal(unused, err)
	}
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		_, err := storage.Update(t.Context(), s, second.Ref(), func(e *storage.WebhookEndpoint) error { e.URL = "https://a.example/h"; return nil })
		return err
	})
	if err := s.DeleteEach(t.Context(), unused); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Get[storage.WebhookEndpoint](s, first.Ref()); err == nil {
		t.Error("the unused endpoint is still there")
	}
	if _, err := storage.Get[storage.WebhookEndpoint](s, second.Ref()); err != nil {
		t.Errorf("the endpoint with a URL: %v", err)
	}
}
