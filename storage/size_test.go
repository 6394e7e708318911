package storage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestStore_MaxState checks that an organization at its limit of stored bytes creates
// nothing more, that its entities can shrink and be deleted, and that others are not limited
// by it.
func TestStore_MaxState(t *testing.T) {
	store, _, replica := storagetest.NewStore(time.Now)
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
	storagetest.Put(t, store, storagetest.Home("bolt", "home", "plan"))
	ref := storage.KindHome.Ref("acme", "home-0")
	if err := store.Delete(t.Context(), ref); err != nil || size("acme") >= 3*one || size("acme") <= 2*one {
		t.Errorf("after a deletion the organization has %d bytes, want two homes of %d and a tombstone (%v)", size("acme"), one, err)
	}
	replica.Forget(ref)
	if n := size("acme"); n != 2*one {
		t.Errorf("after the tombstone expired the organization has %d bytes, want %d", n, 2*one)
	}
	storagetest.Put(t, store, storagetest.Home("acme", "home-9", "plan"))
}

// TestStore_MaxStateOfUpdates checks that updates cannot grow an organization beyond its
// limit of stored bytes, whether one by one or as an import, and that small ones can.
func TestStore_MaxStateOfUpdates(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	for i := range 40 {
		storagetest.Put(t, store, storagetest.Home("acme", fmt.Sprintf("home-%02d", i), "plan"))
	}
	var size int64
	if err := store.View(func(v storage.View) error { size = v.Size("acme"); return nil }); err != nil {
		t.Fatal(err)
	}
	store.SetMaxState(int(size))
	for _, test := range []struct {
		name    string
		refused bool
	}{{"Short", false}, {strings.Repeat("x", int(size/8)), true}, {"x", false}} {
		home := storagetest.Home("acme", "home-00", "plan")
		home.Name = test.name
		ways := map[string]func() error{
			"update": func() error {
				_, err := storage.UpdateWithin(t.Context(), store, home.Ref(), func(h *storage.Home) error { h.Name = test.name; return nil })
				return err
			},
			"upsert": func() error { return store.Upsert(t.Context(), []storage.Entity{home})[0].Err },
		}
		for way, do := range ways {
			if err := do(); isLimit(err) != test.refused {
				t.Errorf("%s to a name of %d bytes: %v", way, len(test.name), err)
			}
		}
	}
	if _, err := storage.Update(t.Context(), store, storage.KindHome.Ref("acme", "home-00"), func(h *storage.Home) error {
		h.Name = strings.Repeat("x", int(size/8))
		return nil
	}); err != nil {
		t.Errorf("an update of the service: %v", err)
	}
}

// TestStore_MaxStateOfChurn checks that an organization that creates and deletes reaches its
// limit of stored bytes.
func TestStore_MaxStateOfChurn(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	const limit = 10_000
	store.SetMaxState(limit)
	for i := range limit {
		home := storagetest.Home("acme", fmt.Sprintf("home-%d", i), "plan")
		err := store.Create(t.Context(), home)
		if isLimit(err) {
			return
		}
		if err == nil {
			err = store.Delete(t.Context(), home.Ref())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%d homes were created and deleted without reaching the limit of %d bytes", limit, limit)
}

func isLimit(err error) bool {
	_, ok := errors.AsType[*storage.LimitError](err)
	return ok
}

// TestStore_MaxStateOfSeries checks that the prices of an organization's market series count,
// and those of all organizations do not.
func TestStore_MaxStateOfSeries(t *testing.T) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	store.SetMaxState(20_000)
	add := func(owner string) (err error) {
		for i := 0; i < 50 && err == nil; i++ {
			series := storage.MarketSeries{Node: fmt.Sprint("N", i), Market: market.DayAhead, Base: storage.Base{OrganizationID: owner}}
			_, err = store.AddPrices(t.Context(), series, []storage.PricesPart{{Start: storagetest.Start.Truncate(time.Hour), Prices: make([]float64, 700)}})
		}
		return err
	}
	if err := add("acme"); !isLimit(err) {
		t.Errorf("50 series of 1.4 kB each: %v", err)
	}
	if err := add(storage.Shared); err != nil {
		t.Errorf("series of all organizations: %v", err)
	}
	// Beyond the limit keys are rotated and the runs of sources recorded.
	store.SetMaxState(1000)
	key, _ := storage.NewKey("acme", storagetest.Start)
	state := &storage.SourceState{ID: "src_1", Base: storage.Base{OrganizationID: "acme"}}
	for _, e := range []storage.Entity{&key, state} {
		err := store.Rewrite(t.Context(), func(storage.View) (storage.Revised, error) { return storage.Revised{Put: []storage.Entity{e}}, nil })
		if err != nil {
			t.Errorf("%T: %v", e, err)
		}
	}
}
