package vault_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// withQuery returns a URL whose query is a secret, without a query if there is none.
func withQuery(secret string) string {
	if secret == "" {
		return "https://acme.example/path"
	}
	return "https://acme.example/path?key=" + secret
}

// TestVault_MaskedEntities checks the entities whose secrets are stored masked. The stored form
// has no secret and opens to the same entity, and storing the same secret again changes nothing.
func TestVault_MaskedEntities(t *testing.T) {
	t.Run("channel", func(t *testing.T) {
		checkMasked(t, "address", func(secret string) *storage.Channel {
			c := &storage.Channel{ID: "id", Base: storage.Base{OrganizationID: "org"}}
			c.Kind, c.Address = storage.ChannelSlack, "https://hooks.example/"+secret
			return c
		}, (*vault.Vault).SealChannel, (*vault.Vault).OpenChannel)
	})
	t.Run("source", func(t *testing.T) {
		checkMasked(t, "url", func(secret string) *storage.Source {
			s := &storage.Source{ID: "id", Base: storage.Base{OrganizationID: "org"}}
			s.URL, s.Secret = withQuery(secret), secret
			return s
		}, (*vault.Vault).SealSource, (*vault.Vault).OpenSource)
	})
	t.Run("secret of a source", func(t *testing.T) {
		checkMasked(t, "secret", func(secret string) *storage.Source {
			s := &storage.Source{ID: "id", Base: storage.Base{OrganizationID: "org"}}
			s.Secret = secret
			return s
		}, (*vault.Vault).SealSource, (*vault.Vault).OpenSource)
	})
	endpoint := func() *storage.WebhookEndpoint {
		e := &storage.WebhookEndpoint{ID: "id", Base: storage.Base{OrganizationID: "org"}}
		e.Headers = map[string]string{}
		return e
	}
	t.Run("endpoint", func(t *testing.T) {
		checkMasked(t, "url", func(secret string) *storage.WebhookEndpoint {
			e := endpoint()
			e.URL, e.Headers["X-Key"] = withQuery(secret), secret
			return e
		}, (*vault.Vault).SealEndpoint, (*vault.Vault).OpenEndpoint)
	})
	t.Run("token URL of an endpoint", func(t *testing.T) {
		checkMasked(t, "authentication.tokenUrl", func(secret string) *storage.WebhookEndpoint {
			e := endpoint()
			e.Authentication = &storage.Authentication{TokenURL: withQuery(secret)}
			return e
		}, (*vault.Vault).SealEndpoint, (*vault.Vault).OpenEndpoint)
	})
	t.Run("headers of an endpoint", func(t *testing.T) {
		checkMasked(t, "header X-Key", func(secret string) *storage.WebhookEndpoint {
			e := endpoint()
			e.Headers["X-Key"] = secret
			return e
		}, (*vault.Vault).SealEndpoint, (*vault.Vault).OpenEndpoint)
	})
}

// checkMasked checks one entity. field is the field that the error of another data key names.
// clear returns the entity with a secret in the clear.
func checkMasked[E any](t *testing.T, field string, clear func(secret string) *E, seal func(v *vault.Vault, e, before *E) error, unseal func(*vault.Vault, *E) error) {
	t.Helper()
	store, _, _ := storagetest.NewStore(now)
	other, _, _ := storagetest.NewStore(now)
	v, foreign := open(t, store), open(t, other)
	before := new(E)
	for _, secret := range []string{"quiet1", "quiet2", ""} {
		sealed, again := clear(secret), clear(secret)
		if err := seal(v, sealed, before); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(sealed)
		if err != nil || strings.Contains(string(text), "quiet") {
			t.Errorf("%q is stored as %s, %v", secret, text, err)
		}
		opened := *sealed
		if err := unseal(v, &opened); err != nil || !reflect.DeepEqual(&opened, clear(secret)) {
			t.Errorf("%q opens as %+v, %v", secret, opened, err)
		}
		if after, err := json.Marshal(sealed); err != nil || string(after) != string(text) {
			t.Errorf("opening a copy changes the entity to %s, %v", after, err)
		}
		if err := seal(v, again, sealed); err != nil || !reflect.DeepEqual(again, sealed) {
			t.Errorf("%q is stored again as %+v, want %+v: %v", secret, again, sealed, err)
		}
		if opened = *sealed; secret != "" {
			if err := unseal(foreign, &opened); err == nil || !strings.HasPrefix(err.Error(), field+": ") {
				t.Errorf("another data key opens %s: %v", field, err)
			}
			if err := seal(foreign, clear(secret), sealed); err == nil {
				t.Error("another data key replaces a secret that it cannot open")
			}
		}
		before = sealed
	}
}
