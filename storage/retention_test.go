package storage_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// tombstone returns a record, which must be a tombstone.
func tombstone(t *testing.T, s *storage.Store, ref storage.Ref) (r storage.Record) {
	t.Helper()
	err := s.View(func(v storage.View) (err error) { r, err = v.Get(ref); return err })
	if err != nil || !r.Deleted {
		t.Fatalf("%s: %+v, %v, want a tombstone", ref, r, err)
	}
	return r
}

// TestDelete_ExpiresUnlessOutlived checks that a tombstone that is the newest change
// of a home is stored as long as the home. Any other tombstone expires.
func TestDelete_ExpiresUnlessOutlived(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	solar := &storage.Solar{HomeID: "h1", SizeKw: 5}
	solar.OrganizationID = "acme"
	storagetest.Put(t, s, storagetest.Home("acme", "h1", "plan"), storagetest.Home("acme", "h2", "plan"), solar)
	if err := s.Delete(t.Context(), storage.KindSolar.Ref("acme", "h1")); err != nil {
		t.Fatal(err)
	}
	if r := tombstone(t, s, storage.KindSolar.Ref("acme", "h1")); !r.Expires.IsZero() {
		t.Errorf("the solar of a home expires at %v", r.Expires)
	}
	for _, home := range []string{"h1", "h2"} {
		if err := s.Delete(t.Context(), storage.KindHome.Ref("acme", home)); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range []storage.Ref{storage.KindHome.Ref("acme", "h1"), storage.KindSolar.Ref("acme", "h1"), storage.KindHome.Ref("acme", "h2")} {
		if r := tombstone(t, s, ref); r.Expires.IsZero() {
			t.Errorf("%s does not expire", ref)
		}
	}
	storagetest.Put(t, s, storagetest.RatePlan("acme", "own", 0.1), storagetest.RatePlan("acme", "both", 0.1), storagetest.RatePlan(storage.Shared, "both", 0.1))
	for plan, expires := range map[string]bool{"own": true, "both": false} {
		if err := s.Delete(t.Context(), storage.KindRatePlan.Ref("acme", plan)); err != nil {
			t.Fatal(err)
		}
		if r := tombstone(t, s, storage.KindRatePlan.Ref("acme", plan)); r.Expires.IsZero() == expires {
			t.Errorf("plan %s expires at %v", plan, r.Expires)
		}
	}
}
