package target_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// The destination has the sealed headers and query in the clear. The endpoint for notices
// does not.
func TestOpen_SealedHeadersAndQuery(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	v := open(t, s)
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL, e.Headers = "ep", "https://partner.example/hook?sig=opaque", map[string]string{"X-Token": "opaque"}
	if err := v.SealEndpoint(&e, &storage.WebhookEndpoint{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), &e); err != nil {
		t.Fatal(err)
	}
	err := s.View(func(view storage.View) error {
		r, err := view.Get(e.Ref())
		if err != nil {
			return err
		}
		got, err := target.Open(v, r)
		if err != nil {
			return err
		}
		if d := got.Destination; d.URL.String() != "https://partner.example/hook?sig=opaque" || d.Header.Get("X-Token") != "opaque" {
			t.Errorf("requests go to %s with %v", d.URL, d.Header)
		}
		if got.URL != "https://partner.example/hook?********" || len(got.WebhookEndpoint.Headers) != 0 {
			t.Errorf("the endpoint has %s and %v", got.URL, got.WebhookEndpoint.Headers)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, s *storage.Store) *vault.Vault {
	t.Helper()
	v, err := vault.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
