package storage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestStoredBytes_Estimate checks that the estimate is exact for few records and close
// for many similar records. Records of other organizations and deleted records do not
// count.
func TestStoredBytes_Estimate(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	size := func(org string) (n int64) {
		t.Helper()
		if err := store.View(func(v storage.View) (err error) { n, err = storage.StoredBytes(v, org); return err }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	storagetest.Put(t, store, storagetest.Home("acme", "home-0000", "plan"))
	one := size("acme")
	if one < 200 || one > 2000 {
		t.Errorf("a home has %d bytes", one)
	}
	var homes []storage.Entity
	for i := range 1500 {
		homes = append(homes, storagetest.Home("acme", fmt.Sprintf("home-%04d", i+1), "plan"))
	}
	storagetest.Put(t, store, homes...)
	if many := size("acme"); many != 1501*one {
		t.Errorf("1501 homes have %d bytes, one has %d", many, one)
	}
	if other := size("bolt"); other != 0 {
		t.Errorf("another organization has %d bytes", other)
	}
	storagetest.Put(t, store, storagetest.Home("bolt", "home", "plan"))
	if err := store.Delete(t.Context(), storage.HomeRef("bolt", "home")); err != nil || size("bolt") != 0 {
		t.Errorf("after the deletion the organization has %d bytes (%v)", size("bolt"), err)
	}
}
