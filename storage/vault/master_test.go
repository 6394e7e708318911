package vault_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

func master(b byte) vault.MasterKey { return vault.MasterKey(bytes.Repeat([]byte{b}, 32)) }

// stored returns the data key in the log.
func stored(t *testing.T, s *storage.Store) vault.DataKey {
	t.Helper()
	k, err := storage.Get[vault.DataKey](s, (&vault.DataKey{ID: "data-key"}).Ref())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestMasterKey_Rotation starts to use a master key and changes it in the three steps
// of the operator's guide. Every secret opens at each step.
func TestMasterKey_Rotation(t *testing.T) {
	s, log, _ := storagetest.NewStore(now)
	sealed := open(t, s).Seal("org", "ep", "whsec_secret")
	clear := stored(t, s).Sealed
	if len(clear) != 32 || stored(t, s).MasterKey != "" {
		t.Fatalf("without a master key the data key is %+v", stored(t, s))
	}
	steps := []struct {
		name    string
		masters []vault.MasterKey
		writes  bool
		refused string // of the error, empty for none
	}{
		{"taken into use", []vault.MasterKey{master(1)}, true, ""},
		{"the same again", []vault.MasterKey{master(1)}, false, ""},
		{"none", nil, false, "give it by GRIDHOOK_MASTER_KEY"},
		{"another", []vault.MasterKey{master(2)}, false, "not among the given keys"},
		{"the new one known", []vault.MasterKey{master(1), master(2)}, false, ""},
		{"the new one first", []vault.MasterKey{master(2), master(1)}, true, ""},
		{"a process of before", []vault.MasterKey{master(1), master(2)}, true, ""},
		{"the new one first again", []vault.MasterKey{master(2), master(1)}, true, ""},
		{"the old one gone", []vault.MasterKey{master(2)}, false, ""},
		{"the old one", []vault.MasterKey{master(1)}, false, "not among the given keys"},
	}
	for _, step := range steps {
		before, _ := log.Last(t.Context())
		v, err := vault.Open(t.Context(), s, step.masters...)
		after, _ := log.Last(t.Context())
		if step.refused != "" {
			if !errors.Is(err, vault.ErrLocked) || !strings.Contains(err.Error(), step.refused) || after != before {
				t.Errorf("%s: %v, %d writes", step.name, err, after-before)
			}
			continue
		}
		if err != nil || (after != before) != step.writes {
			t.Fatalf("%s: %v, %d writes", step.name, err, after-before)
		}
		if got, err := v.Open("org", "ep", sealed); got != "whsec_secret" || err != nil {
			t.Errorf("%s: the secret opens as %q, %v", step.name, got, err)
		}
		if bytes.Contains(stored(t, s).Sealed, clear) {
			t.Errorf("%s: the data key is stored in the clear", step.name)
		}
	}
}

// TestMasterKey_SealsDataKey checks that the data key is sealed, and that no process uses one
// that was changed in the log.
func TestMasterKey_SealsDataKey(t *testing.T) {
	s, _, _ := storagetest.NewStore(now)
	if _, err := vault.Open(t.Context(), s, master(1)); err != nil {
		t.Fatal(err)
	}
	if k := stored(t, s); len(k.Sealed) <= 32 || k.MasterKey != master(1).ID() {
		t.Errorf("the data key is %+v", k)
	}
	_, err := storage.Update(t.Context(), s, (&vault.DataKey{ID: "data-key"}).Ref(), func(k *vault.DataKey) error {
		k.Sealed[len(k.Sealed)-1] ^= 1
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Open(t.Context(), s, master(1)); !errors.Is(err, vault.ErrLocked) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a changed data key: %v", err)
	}
}

func TestParseMasterKeys_Forms(t *testing.T) {
	one := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	two := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32))
	for text, want := range map[string]int{"": 0, " \n": 0, one: 1, one + "\n" + two + "\n": 2, one + "," + two: 2} {
		if keys, err := vault.ParseMasterKeys(text); len(keys) != want || err != nil {
			t.Errorf("%q has %d keys, %v", text, len(keys), err)
		}
	}
	for _, text := range []string{"x", one[:40], one + one, one + " secret-part"} {
		if _, err := vault.ParseMasterKeys(text); err == nil || strings.Contains(err.Error(), "secret-part") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
