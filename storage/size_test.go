package storage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestStore_MaxState checks that an organization at its limit of stored bytes creates
// nothing more, that its entities can still change, and that others are not limited by it.
func TestStore_MaxState(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	size := func(org string) (n int64) {
		t.Helper()
		if err := store.View(func(v storage.View) error { n = v.Size(org); return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	storagetest.Put(t, store, storagetest.Home("acme", "home-0", "plan"))
	one := size("acme")
	store.SetMaxState(int(3*one + one/2))
	var homes []storage.Entity
	for i := range 4 {
		homes = append(homes, storagetest.Home("acme", fmt.Sprintf("home-%d", i+1), "plan"))
	}
	for i, r := range store.Upsert(t.Context(), homes) {
		if refused := i >= 2; refused != isLimit(r.Err) {
			t.Errorf("home %d: %v", i+1, r.Err)
		}
	}
	if n := size("acme"); n != 3*one {
		t.Errorf("three homes have %d bytes, one has %d", n, one)
	}
	if err := store.Create(t.Context(), storagetest.Home("acme", "home-9", "plan")); !isLimit(err) || !strings.Contains(err.Error(), "max-state") {
		t.Errorf("the creation of a fourth home: %v", err)
	}
	ref := storage.HomeRef("acme", "home-0")
	if _, err := storage.Update(t.Context(), store, ref, func(h *storage.Home) error { h.Name = "Longer than the limit leaves room for"; return nil }); err != nil {
		t.Errorf("an update: %v", err)
	}
	storagetest.Put(t, store, storagetest.Home("bolt", "home", "plan"))
	if err := store.Delete(t.Context(), ref); err != nil || size("acme") != 2*one {
		t.Errorf("after a deletion the organization has %d bytes, want %d (%v)", size("acme"), 2*one, err)
	}
	storagetest.Put(t, store, storagetest.Home("acme", "home-9", "plan"))
}

func isLimit(err error) bool {
	_, ok := errors.AsType[*storage.LimitError](err)
	return ok
}
