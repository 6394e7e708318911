package storage_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func organization(id string, children ...string) *storage.Organization {
	o := &storage.Organization{ID: id, Name: "The " + id, ChildOrganizationIDs: children}
	o.OrganizationID = storage.Shared
	return o
}

func TestEraseOrganization(t *testing.T) {
	s, log, _, c := newStore(t)
	storagetest.Put(t, s, organization("org"), organization("other"), organization("parent", "org", "other"),
		home("a", "One"), home("b", "Two"), storagetest.Home("other", "a", ""))
	late := log.Replica()
	release := late.Hold()

	if _, err := s.EraseOrganization(t.Context(), "none"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an unknown organization: %v", err)
	}
	want := map[storage.Kind]int{storage.KindOrganization: 1, storage.KindHome: 2}
	e, err := s.EraseOrganization(t.Context(), "org")
	if err != nil || !e.Complete || !maps.Equal(e.Records, want) || !e.By.Equal(c.now.Add(storagetest.DeletionsAge)) {
		t.Errorf("the receipt is %+v, %v, want %v", e, err, want)
	}
	if _, err := storage.Get[storage.Organization](s, storage.OrganizationRef("org")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the deleted organization: %v", err)
	}
	if parent, err := storage.Get[storage.Organization](s, storage.OrganizationRef("parent")); err != nil || len(parent.ChildOrganizationIDs) != 1 {
		t.Errorf("the parent may act for %v, %v", parent.ChildOrganizationIDs, err)
	}
	again, err := s.EraseOrganization(t.Context(), "org")
	if err != nil || !again.Complete || len(again.Records) != 0 || !again.By.Equal(e.By) {
		t.Errorf("the receipt of a repeat is %+v, %v", again, err)
	}

	release()
	for name, replica := range map[string]storage.Replica{"late": late, "new": log.Replica()} {
		_ = replica.View(func(v storage.View) error {
			if n := v.Count(storage.KindHome, "org"); n != 0 {
				t.Errorf("the %s replica has %d homes of the deleted organization", name, n)
			}
			if n := v.Count(storage.KindHome, "other"); n != 1 {
				t.Errorf("the %s replica has %d homes of the other organization", name, n)
			}
			return nil
		})
	}
}

// After the deletion nothing of the organization can be created, however it is written.
// Entities of other organizations in the same call are stored.
func TestEraseOrganization_RefusesNewEntities(t *testing.T) {
	s, _, _, _ := newStore(t)
	storagetest.Put(t, s, organization("org"), home("a", "One"))
	if _, err := s.EraseOrganization(t.Context(), "org"); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if erased, ok := errors.AsType[*storage.ErasedError](err); !ok || erased.Org != "org" || erased.Until.IsZero() {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("create the organization", s.Create(t.Context(), organization("org")))
	refused("create a home", s.Create(t.Context(), home("a", "Two")))
	results := s.Upsert(t.Context(), []storage.Entity{home("b", "Two"), storagetest.Home("other", "b", "")})
	refused("upsert a home", results[0].Err)
	if results[1].Err != nil {
		t.Errorf("upsert a home of another organization: %v", results[1].Err)
	}
	refused("rewrite", s.Rewrite(t.Context(), func(storage.View) (storage.Revised, error) {
		return storage.Revised{Put: []storage.Entity{home("c", "Three")}}, nil
	}))
}

// TestEraseOrganization_WriteInFlight checks that the log has nothing of a deleted
// organization that was written after the writer had looked for the deletion.
func TestEraseOrganization_WriteInFlight(t *testing.T) {
	other := storagetest.Home("other", "a", "")
	upserted := func(s *storage.Store, entities ...storage.Entity) error {
		results := s.Upsert(t.Context(), entities)
		return results[len(results)-1].Err
	}
	tests := []struct {
		name  string
		write func(*storage.Store) error
	}{
		{"create", func(s *storage.Store) error { return s.Create(t.Context(), home("new", "")) }},
		{"upsert", func(s *storage.Store) error { return upserted(s, other, home("new", "")) }},
		{"replace", func(s *storage.Store) error { return s.Replace(t.Context(), home("old", "Two")) }},
		{"rewrite", func(s *storage.Store) error {
			return s.Rewrite(t.Context(), revised(storage.Revised{Put: []storage.Entity{other, home("new", "")}}))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, log, _, _ := newStore(t)
			storagetest.Put(t, s, organization("org"), organization("other"), home("old", "One"))
			log.Intercept(func(storage.Write) error {
				log.Intercept(nil)
				_, err := s.EraseOrganization(t.Context(), "org")
				return err
			})
			if erased, ok := errors.AsType[*storage.ErasedError](tt.write(s)); !ok || erased.Org != "org" {
				t.Errorf("the write returned %v, want that org is deleted", erased)
			}
			for _, id := range []string{"old", "new"} {
				if r, err := log.Read(t.Context(), storage.KindHome.Ref("org", id)); err != nil || r.Revision != 0 {
					t.Errorf("the log has %+v, %v of the deleted organization", r, err)
				}
			}
		})
	}
}

// TestEraseOrganization_ExpiredMark checks that the identifier is free at the mark's expiry,
// also while the replica still has the mark. A later organization can be deleted as well.
func TestEraseOrganization_ExpiredMark(t *testing.T) {
	s, log, _, c := newStore(t)
	storagetest.Put(t, s, organization("org"), home("a", "One"))
	first, err := s.EraseOrganization(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	for until, want := range map[time.Time]bool{first.By.Add(-time.Millisecond): true, first.By: false} {
		_ = s.View(func(v storage.View) error {
			if erased, err := storage.IsErased(v, "org", until); erased != want || err != nil {
				t.Errorf("at %s the organization is deleted: %t (%v), want %t", until, erased, err, want)
			}
			return nil
		})
	}
	c.now = first.By
	if _, err := s.EraseOrganization(t.Context(), "org"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a deletion of nothing: %v", err)
	}
	log.Expire(storage.ErasureRef("org")) // the log removes the mark before the replica
	storagetest.Put(t, s, organization("org"), home("a", "Two"))
	second, err := s.EraseOrganization(t.Context(), "org")
	if err != nil || !second.Complete || !second.By.After(first.By) {
		t.Errorf("the second receipt is %+v, %v", second, err)
	}
	if _, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "a")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a home of the second organization: %v", err)
	}
}

// TestUpsert_ClockBehindAfterErasure checks that a process whose clock is behind the expiry
// of an earlier organization's mark does not erase the later organization.
func TestUpsert_ClockBehindAfterErasure(t *testing.T) {
	s, log, _, c := newStore(t)
	storagetest.Put(t, s, organization("org"))
	e, err := s.EraseOrganization(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	c.now = e.By
	storagetest.Put(t, s, organization("org"), home("a", "One"), home("b", "One"))
	c.now = e.By.Add(-2 * time.Minute)
	// Another process deletes a during the update, so that the update creates it again.
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		return s.Delete(t.Context(), storage.KindHome.Ref("org", "a"))
	})
	_ = s.Upsert(t.Context(), []storage.Entity{home("a", "Two")})
	upsert(t, s, "updated", home("b", "Two"))
	for _, ref := range []storage.Ref{storage.OrganizationRef("org"), storage.KindHome.Ref("org", "a"), storage.KindHome.Ref("org", "b")} {
		if r, err := log.Read(t.Context(), ref); err != nil || r.Revision == 0 {
			t.Errorf("%s is erased (%v)", ref, err)
		}
	}
}

// TestStore_ClockBehindAfterErasure checks that reads include each write of a process whose
// clock is behind the expiry of an earlier organization's mark.
func TestStore_ClockBehindAfterErasure(t *testing.T) {
	ref := storage.KindHome.Ref("org", "h")
	for name, write := range map[string]func(*storage.Store) error{
		"upsert": func(s *storage.Store) error { return s.Replace(t.Context(), home("h", "Two")) },
		"update": func(s *storage.Store) error { _, err := update(t, s, "Two"); return err },
		"touch":  func(s *storage.Store) error { return s.Touch(t.Context(), ref) },
		"delete": func(s *storage.Store) error { return s.Delete(t.Context(), storage.KindHome.Ref("org", "h")) },
	} {
		t.Run(name, func(t *testing.T) {
			s, log, _, c := newStore(t)
			storagetest.Put(t, s, organization("org"))
			e, err := s.EraseOrganization(t.Context(), "org")
			if err != nil {
				t.Fatal(err)
			}
			c.now = e.By
			storagetest.Put(t, s, organization("org"), home("h", "One"))
			c.now = e.By.Add(-2 * time.Minute)
			if err := write(s); err != nil {
				t.Fatal(err)
			}
			last, err := log.Last(t.Context())
			if r := record(t, s, "h"); err != nil || r.Revision != last {
				t.Errorf("reads have revision %d of the home, the log has %d (%v)", r.Revision, last, err)
			}
		})
	}
}

// failingLog is a log whose Erase fails.
type failingLog struct {
	*storagetest.Log
	err error
}

func (l failingLog) Erase(context.Context, string) (map[storage.Kind]int, error) { return nil, l.err }

// An unfinished deletion hides the organization, and its mark does not expire.
func TestEraseOrganization_Unfinished(t *testing.T) {
	_, log, replica, c := newStore(t)
	s := storage.NewStore(failingLog{log, storage.ErrNotErasable}, replica, func() (now time.Time) { return c.now })
	storagetest.Put(t, s, organization("org"), home("a", "One"))
	if e, err := s.EraseOrganization(t.Context(), "org"); !errors.Is(err, storage.ErrNotErasable) || e.Complete {
		t.Errorf("the deletion returns %+v, %v", e, err)
	}
	if _, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "a")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a home of the organization: %v", err)
	}
	if mark, err := log.Read(t.Context(), storage.ErasureRef("org")); err != nil || mark.Revision == 0 || !mark.Expires.IsZero() {
		t.Errorf("the mark is %+v, %v", mark, err)
	}
	unfinished := func(s *storage.Store, want int) {
		t.Helper()
		if err := s.View(func(v storage.View) error {
			n, err := storage.UnfinishedErasures(v)
			if n != want {
				t.Errorf("%d unfinished deletions, want %d", n, want)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	unfinished(s, 1)
	s = storage.NewStore(log, replica, func() (now time.Time) { return c.now })
	if e, err := s.EraseOrganization(t.Context(), "org"); !e.Complete || err != nil {
		t.Errorf("the repeated deletion returns %+v, %v", e, err)
	}
	unfinished(s, 0)
}

// TestUpsert_NotErasable checks the error for an entity of a deleted organization if the log
// cannot erase the entity.
func TestUpsert_NotErasable(t *testing.T) {
	_, log, replica, c := newStore(t)
	s := storage.NewStore(failingLog{log, storage.ErrNotErasable}, replica, c.Now)
	storagetest.Put(t, s, organization("org"))
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		if _, err := s.EraseOrganization(t.Context(), "org"); !errors.Is(err, storage.ErrNotErasable) {
			t.Errorf("the deletion returns %v", err)
		}
		return nil
	})
	err := s.Replace(t.Context(), home("a", "One"))
	if erased, ok := errors.AsType[*storage.ErasedError](err); !ok || !erased.Until.IsZero() {
		t.Errorf("the upsert returned %v, want that org is being deleted", err)
	}
}

// TestEraseOrganization_BesideUndecodable checks that the undecodable record of one
// organization does not keep another from being deleted.
func TestEraseOrganization_BesideUndecodable(t *testing.T) {
	s, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	storagetest.Put(t, s, organization("acme"))
	damaged := storage.Write{Ref: storage.OrganizationRef("damaged"), At: storagetest.Start, Value: []byte(`{"childOrganizationIds": ["acme"], "name": 7}`)}
	if _, err := log.AppendBatch(t.Context(), []storage.Write{damaged}); err != nil {
		t.Fatal(err)
	}
	if e, err := s.EraseOrganization(t.Context(), "acme"); err != nil || !e.Complete {
		t.Errorf("the deletion: %+v, %v", e, err)
	}
}
