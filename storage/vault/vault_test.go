package vault_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

func now() time.Time { return storagetest.Start }

func open(t *testing.T, s *storage.Store) *vault.Vault {
	t.Helper()
	v, err := vault.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVault_RoundTrip(t *testing.T) {
	s, _, _ := storagetest.NewStore(now)
	v := open(t, s)
	for _, secret := range []string{"whsec_c2VjcmV0", "", strings.Repeat("x", 10_000), "\x00\xff"} {
		sealed, again := v.Seal("org", "ep", secret), v.Seal("org", "ep", secret)
		if sealed == again || secret != "" && strings.Contains(sealed, secret) {
			t.Errorf("%q is sealed as %q and as %q", secret, sealed, again)
		}
		if got, err := v.Open("org", "ep", sealed); got != secret || err != nil {
			t.Errorf("%q opens as %q, %v", secret, got, err)
		}
	}
}

func TestVault_SecretBoundToEndpoint(t *testing.T) {
	s, _, _ := storagetest.NewStore(now)
	other, _, _ := storagetest.NewStore(now)
	v := open(t, s)
	sealed := v.Seal("org", "ep", "whsec_secret")
	flipped := []byte(sealed)
	flipped[len(flipped)-2] ^= 1
	for name, tt := range map[string]struct {
		vault           *vault.Vault
		org, ep, sealed string
	}{
		"another organization":    {v, "gro", "ep", sealed},
		"another endpoint":        {v, "org", "pe", sealed},
		"the parts shifted":       {v, "or", "g/ep", sealed},
		"another key":             {open(t, other), "org", "ep", sealed},
		"a flipped bit":           {v, "org", "ep", string(flipped)},
		"cut off":                 {v, "org", "ep", sealed[:len(sealed)-4]},
		"nothing":                 {v, "org", "ep", ""},
		"a version alone":         {v, "org", "ep", "v1."},
		"another version":         {v, "org", "ep", "v2" + sealed[2:]},
		"no base64":               {v, "org", "ep", "v1.*"},
		"shorter than its nonce":  {v, "org", "ep", "v1.AAAA"},
		"the secret in the clear": {v, "org", "ep", "whsec_secret"},
	} {
		if got, err := tt.vault.Open(tt.org, tt.ep, tt.sealed); err == nil || got != "" || strings.Contains(err.Error(), "whsec") {
			t.Errorf("%s: opens as %q, %v", name, got, err)
		}
	}
}

func TestDataKey_CreatedOnce(t *testing.T) {
	s, log, _ := storagetest.NewStore(now)
	sealed := open(t, s).Seal("org", "ep", "secret")
	if got, err := open(t, s).Open("org", "ep", sealed); got != "secret" || err != nil {
		t.Errorf("a second vault opens %q, %v", got, err)
	}
	if last, _ := log.Last(t.Context()); last != 1 {
		t.Errorf("%d writes, want one", last)
	}
}

// TestDataKey_ConcurrentStart checks that two processes that start at the same time
// use the same key.
func TestDataKey_ConcurrentStart(t *testing.T) {
	log := storagetest.NewLog()
	replica := log.Replica()
	mine, theirs := storage.NewStore(log, replica, now), storage.NewStore(log, log.Replica(), now)
	release := replica.Hold()
	rival := open(t, theirs)
	log.Intercept(func(storage.Write) error { release(); return nil })
	v := open(t, mine)
	if got, err := v.Open("org", "ep", rival.Seal("org", "ep", "secret")); got != "secret" || err != nil {
		t.Errorf("the secret opens as %q, %v", got, err)
	}
}

func TestDataKey_LogUnavailable(t *testing.T) {
	s, log, _ := storagetest.NewStore(now)
	log.Intercept(func(storage.Write) error { return storage.ErrUnavailable })
	if _, err := vault.Open(t.Context(), s); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
