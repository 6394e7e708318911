package storage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// changes returns the changes of an upsert's entities as text.
func changes(results []storage.UpsertResult) []string {
	list := make([]string, len(results))
	for i, r := range results {
		var invalid *storage.InvalidError
		switch {
		case errors.As(r.Err, &invalid):
			list[i] = "invalid"
		case errors.Is(r.Err, storage.ErrConflict):
			list[i] = "conflict"
		case errors.Is(r.Err, storage.ErrUnavailable):
			list[i] = "unavailable"
		case r.Err != nil:
			list[i] = r.Err.Error()
		default:
			list[i] = string(r.Change)
		}
	}
	return list
}

func upsert(t *testing.T, s *storage.Store, want string, entities ...storage.Entity) {
	t.Helper()
	if got := strings.Join(changes(s.Upsert(t.Context(), entities)), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUpsert_Changes(t *testing.T) {
	s, log, _, c := newStore(t)
	created := c.now
	upsert(t, s, "")
	upsert(t, s, "created created", home("a", "One"), home("b", "One"))
	c.now = c.now.Add(time.Minute)
	upsert(t, s, "unchanged updated created", home("a", "One"), home("b", "Two"), home("c", "One"))
	if last, _ := log.Last(t.Context()); last != 4 {
		t.Errorf("%d writes, want 4: an unchanged entity is not written", last)
	}
	a, b := getHome(t, s, "a"), getHome(t, s, "b")
	if !a.UpdatedAt.Equal(created) || !b.CreatedAt.Equal(created) || !b.UpdatedAt.Equal(c.now) {
		t.Errorf("the times are %v, and %v and %v", a.UpdatedAt, b.CreatedAt, b.UpdatedAt)
	}
}

func TestUpsert_SkipsInvalid(t *testing.T) {
	s, _, _, _ := newStore(t)
	foreign := storagetest.Home("a.b", "h", "")
	results := s.Upsert(t.Context(), []storage.Entity{home("a", "One"), home("not valid", ""), foreign, home("b", "One")})
	got := changes(results)
	if got[0] != "created" || got[1] != "invalid" || results[2].Err == nil || got[3] != "created" {
		t.Errorf("got %v", got)
	}
}

func TestUpsert_AfterDelete(t *testing.T) {
	s, _, _, c := newStore(t)
	upsert(t, s, "created", home("a", "One"))
	first := record(t, s, "a").First
	if err := s.Delete(t.Context(), storage.KindHome.Ref("org", "a")); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Minute)
	upsert(t, s, "created", home("a", "One"))
	if r, h := record(t, s, "a"), getHome(t, s, "a"); r.First != first || !h.CreatedAt.Equal(c.now) {
		t.Errorf("created again: First %d, created %v", r.First, h.CreatedAt)
	}
}

func TestUpsert_Batches(t *testing.T) {
	s, log, _, _ := newStore(t)
	entities := make([]storage.Entity, 2*storage.MaxBatch+1)
	for i := range entities {
		entities[i] = home(fmt.Sprintf("h%05d", i), "")
	}
	// The second batch is refused, the others are stored.
	log.Intercept(func(w storage.Write) error {
		if w.ID == fmt.Sprintf("h%05d", storage.MaxBatch) {
			return storage.ErrUnavailable
		}
		return nil
	})
	got := map[string]int{}
	for _, c := range changes(s.Upsert(t.Context(), entities)) {
		got[c]++
	}
	if want := map[string]int{"created": storage.MaxBatch + 1, "unavailable": storage.MaxBatch}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	log.Intercept(nil)
	again := map[string]int{}
	for _, c := range changes(s.Upsert(t.Context(), entities)) {
		again[c]++
	}
	if want := map[string]int{"unchanged": storage.MaxBatch + 1, "created": storage.MaxBatch}; !reflect.DeepEqual(again, want) {
		t.Errorf("a second upsert: %v, want %v", again, want)
	}
}

func TestUpsert_Conflict(t *testing.T) {
	s, log, replica, _ := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	first := record(t, s, "h").First
	release := replica.Hold()
	elsewhere(t, log, "Theirs")
	log.Intercept(func(storage.Write) error { release(); return nil })
	upsert(t, s, "created updated", home("g", "Mine"), home("h", "Mine"))
	if h := getHome(t, s, "h"); h.Name != "Mine" {
		t.Errorf("the home is %q: an import overwrites it", h.Name)
	}
	if r := record(t, s, "h"); r.First != first {
		t.Errorf("First is %d, want %d", r.First, first)
	}
}

func TestUpsert_EndlessConflicts(t *testing.T) {
	s, log, _, _ := newStore(t)
	log.Intercept(func(storage.Write) error { return storage.ErrConflict })
	upsert(t, s, "conflict", home("h", "Mine"))
}

// TestUpsert_TombstonesExpireMeanwhile removes the tombstones of a batch one after
// another while the batch is written.
func TestUpsert_TombstonesExpireMeanwhile(t *testing.T) {
	s, log, _, _ := newStore(t)
	ids := []string{"a", "b", "c", "d"}
	var homes []storage.Entity
	for _, id := range ids {
		homes = append(homes, home(id, "Mine"))
	}
	upsert(t, s, "created created created created", homes...)
	for _, id := range ids {
		if err := s.Delete(t.Context(), storage.KindHome.Ref("org", id)); err != nil {
			t.Fatal(err)
		}
	}
	log.Intercept(func(w storage.Write) error {
		if w.Ref.ID == "a" && len(ids) > 0 { // the first write of each attempt
			log.Expire(storage.KindHome.Ref("org", ids[0]))
			ids = ids[1:]
		}
		return nil
	})
	upsert(t, s, "created created created created", homes...)
}

// TestUpsert_RepairsDamagedRecord checks that a record that does not decode is replaced.
func TestUpsert_RepairsDamagedRecord(t *testing.T) {
	s, log, _, c := newStore(t)
	for _, id := range []string{"a", "b"} {
		if _, err := log.Append(t.Context(), storage.Write{Ref: storage.KindHome.Ref("org", id), At: c.now, Value: []byte("garbage")}); err != nil {
			t.Fatal(err)
		}
	}
	upsert(t, s, "updated", home("a", "One"))
	if h := getHome(t, s, "a"); h.Name != "One" || !h.CreatedAt.Equal(c.now) {
		t.Errorf("the home is %+v", h)
	}
	if err := s.Rewrite(t.Context(), revised(storage.Revised{Put: []storage.Entity{home("b", "Two")}})); err != nil {
		t.Errorf("rewrite: %v", err)
	}
}

// A stored home has no members with zero values, as homes are most of the log. A home that an
// earlier version stored with all members is unchanged by an import of the same values.
func TestUpsert_StoredHome(t *testing.T) {
	s, log, _, _ := newStore(t)
	h := home("a", "One")
	h.Enabled, h.City = false, "Chicago"
	upsert(t, s, "created", h)
	if r := record(t, s, "a"); strings.Contains(string(r.Value), `""`) || strings.Contains(string(r.Value), "null") || strings.Contains(string(r.Value), "false") {
		t.Errorf("stored as %s", r.Value)
	}
	stored := getHome(t, s, "a")
	if stored.Enabled || stored.City != "Chicago" || stored.Name != "One" || stored.CreatedAt.IsZero() {
		t.Errorf("read as %+v", stored)
	}
	full, err := json.Marshal(&stored)
	if err != nil {
		t.Fatal(err)
	}
	was := record(t, s, "a")
	if _, err := log.Append(t.Context(), storage.Write{Ref: was.Ref, Expect: was.Revision, First: was.First, At: was.At, Value: full}); err != nil {
		t.Fatal(err)
	}
	same, other := home("a", "One"), home("a", "One")
	same.Enabled, same.City = false, "Chicago"
	upsert(t, s, "unchanged", same)
	if last, _ := log.Last(t.Context()); last != 2 {
		t.Errorf("%d writes, want 2", last)
	}
	upsert(t, s, "updated", other)
}
