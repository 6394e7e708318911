package storage_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestNewKey_Matches(t *testing.T) {
	key, text := storage.NewKey("org", storagetest.Start)
	id, secret, ok := storage.SplitKey(storage.KeyPrefix, text)
	if !ok || id != key.ID || key.OrganizationID != "org" || len(secret) != 64 {
		t.Fatalf("%q splits into %q, %q, %v", text, id, secret, ok)
	}
	if !key.Matches(secret) || key.Matches(secret+"0") || key.Matches("") || key.Matches(key.SecretHash) {
		t.Error("the key matches a wrong secret, or does not match its own")
	}
	stored, err := json.Marshal(key)
	if err != nil || strings.Contains(string(stored), secret) {
		t.Errorf("the stored form is %s (%v), with the secret", stored, err)
	}
	if err := storage.Validate(&key); err != nil {
		t.Error(err)
	}
	for _, s := range storage.DefaultScopes() {
		if !key.Allows(s) {
			t.Errorf("a key without a list lacks the scope %s", s)
		}
	}
	key.Scopes = []storage.Scope{storage.ScopeRead}
	if key.Allows(storage.ScopeWrite) || !key.Allows(storage.ScopeRead) {
		t.Error("a key has a scope outside its list")
	}
	if !key.Allows(storage.ScopeHomes) {
		t.Error("the scope read does not include homes:read")
	}
	if key.Scopes = []storage.Scope{storage.ScopeHomes}; !key.Allows(storage.ScopeHomes) || key.Allows(storage.ScopeRead) {
		t.Error("the scope homes:read is not the list of homes only")
	}
	if _, other := storage.NewKey("org", storagetest.Start); other == text {
		t.Error("two keys are equal")
	}
}

func TestSplitKey_Forms(t *testing.T) {
	for _, tt := range []struct{ text, id, secret string }{
		{"ghk_key_1_abc", "key_1", "abc"},
		{"ghk_a_b", "a", "b"},
		{"ghk_a__b", "a_", "b"},
		{"ghk_" + strings.Repeat("k", 128) + "_s", strings.Repeat("k", 128), "s"},
		{"", "", ""}, {"ghk_", "", ""}, {"ghk_a", "", ""}, {"ghk__a", "", ""}, {"ghk_a_", "", ""},
		{"GHK_a_b", "", ""}, {"xghk_a_b", "", ""}, {"ghk_a.b_c", "", ""}, {"ghk_a b_c", "", ""},
		{"ghk_" + strings.Repeat("k", 129) + "_s", "", ""},
	} {
		id, secret, ok := storage.SplitKey(storage.KeyPrefix, tt.text)
		if id != tt.id || secret != tt.secret || ok != (tt.id != "") {
			t.Errorf("SplitKey(%q) = %q, %q, %v", tt.text, id, secret, ok)
		}
	}
}

func TestKey_Live(t *testing.T) {
	now := storagetest.Start
	at := func(d time.Duration) storage.Time { return storage.Time{Time: now.Add(d)} }
	for name, tt := range map[string]struct {
		key  storage.Key
		want bool
	}{
		"neither":            {storage.Key{}, true},
		"expires later":      {storage.Key{Credential: storage.Credential{ExpiresAt: at(time.Nanosecond)}}, true},
		"expires now":        {storage.Key{Credential: storage.Credential{ExpiresAt: at(0)}}, false},
		"expired":            {storage.Key{Credential: storage.Credential{ExpiresAt: at(-time.Hour)}}, false},
		"revoked":            {storage.Key{Credential: storage.Credential{RevokedAt: at(-time.Hour)}}, false},
		"revoked in advance": {storage.Key{Credential: storage.Credential{RevokedAt: at(time.Hour), ExpiresAt: at(time.Hour)}}, false},
	} {
		if got := tt.key.Live(now); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEndedKeys_LeftLastUse checks that a last use whose deletion failed is deleted later,
// without its key.
func TestEndedKeys_LeftLastUse(t *testing.T) {
	now := storagetest.Start
	s, log, _ := storagetest.NewStore(func() time.Time { return now })
	k, _ := storage.NewKey("acme", now)
	k.Link, k.ExpiresAt = true, storage.Time{Time: now.Add(time.Minute)}
	use := &storage.KeyUse{KeyID: k.ID, LastUsedAt: storage.Time{Time: now}, Base: storage.Base{OrganizationID: "acme"}}
	storagetest.Put(t, s, organization("acme"), &k, use)
	now = now.Add(time.Hour)
	sweep := func() error {
		ended, err := storage.Query(s, func(v storage.View) ([]storage.Record, error) { return storage.EndedKeys(v, now) })
		return errors.Join(err, s.DeleteEach(t.Context(), ended))
	}
	log.Intercept(func(w storage.Write) error {
		if w.Kind == storage.KindKeyUse {
			return storage.ErrUnavailable
		}
		return nil
	})
	if err := sweep(); !errors.Is(err, storage.ErrUnavailable) {
		t.Fatal(err)
	}
	log.Intercept(nil)
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Get[storage.KeyUse](s, use.Ref()); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the last use of the deleted key: %v", err)
	}
}
