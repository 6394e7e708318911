package storage_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// revised returns a change that does not depend on the stored entities.
func revised(r storage.Revised) func(storage.View) (storage.Revised, error) {
	return func(storage.View) (storage.Revised, error) { return r, nil }
}

func TestRewrite_PutsAndDeletes(t *testing.T) {
	s, log, _, c := newStore(t)
	upsert(t, s, "created created", home("a", "One"), home("b", "One"))
	created := c.now
	c.now = c.now.Add(time.Minute)
	none := storage.KindHome.Ref("org", "none")
	r := storage.Revised{Put: []storage.Entity{home("b", "Two"), home("c", "Three")}, Gone: []storage.Ref{storage.KindHome.Ref("org", "a"), none}}
	if err := s.Rewrite(t.Context(), revised(r)); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "a")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a: %v, want it gone", err)
	}
	b, last := getHome(t, s, "b"), getHome(t, s, "c")
	if b.Name != "Two" || !b.CreatedAt.Equal(created) || !b.UpdatedAt.Equal(c.now) || last.Name != "Three" || !last.CreatedAt.Equal(c.now) {
		t.Errorf("b is %+v, c is %+v", b, last)
	}
	if n, _ := log.Last(t.Context()); n != 5 {
		t.Errorf("%d writes, want 5: an unknown entity is not deleted", n)
	}
	if err := s.Rewrite(t.Context(), revised(storage.Revised{})); err != nil {
		t.Errorf("an empty change: %v", err)
	}
}

// TestRewrite_RepeatsAfterConflict checks that a concurrent write is not overwritten:
// Rewrite computes the change again.
func TestRewrite_RepeatsAfterConflict(t *testing.T) {
	s, log, _, _ := newStore(t)
	upsert(t, s, "created", home("h", "0"))
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		_, err := update(t, s, "0+")
		return err
	})
	err := s.Rewrite(t.Context(), func(v storage.View) (storage.Revised, error) {
		h, _, err := storage.Read[storage.Home](v, storage.KindHome.Ref("org", "h"))
		h.Name += "!"
		return storage.Revised{Put: []storage.Entity{&h}}, err
	})
	if name := getHome(t, s, "h").Name; err != nil || name != "0+!" {
		t.Errorf("the name is %q (%v)", name, err)
	}
}

func TestRewrite_AllOrNothing(t *testing.T) {
	s, log, _, _ := newStore(t)
	unknown := home("b", "Two")
	unknown.Timezone = "Mars"
	var invalid *storage.InvalidError
	if err := s.Rewrite(t.Context(), revised(storage.Revised{Put: []storage.Entity{home("a", "One"), unknown}})); !errors.As(err, &invalid) {
		t.Errorf("one is invalid: %v", err)
	}
	failure := errors.New("changed my mind")
	if err := s.Rewrite(t.Context(), func(storage.View) (storage.Revised, error) { return storage.Revised{}, failure }); !errors.Is(err, failure) {
		t.Errorf("Rewrite returned %v", err)
	}
	var many storage.Revised
	for i := range storage.MaxBatch + 1 {
		many.Put = append(many.Put, home("h"+strconv.Itoa(i), ""))
	}
	if err := s.Rewrite(t.Context(), revised(many)); err == nil {
		t.Error("a change larger than a batch was accepted")
	}
	if n, _ := log.Last(t.Context()); n != 0 {
		t.Errorf("%d writes", n)
	}
}

// TestTouch changes the time and the revision of a record, and nothing in the entity.
func TestTouch(t *testing.T) {
	s, _, _, c := newStore(t)
	upsert(t, s, "created", home("a", "One"))
	ref := storage.KindHome.Ref("org", "a")
	before, created := getHome(t, s, "a"), c.now
	c.now = c.now.Add(time.Minute)
	if err := s.Touch(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if got := getHome(t, s, "a"); got.Name != "One" || !got.UpdatedAt.Equal(created) || got.CreatedAt != before.CreatedAt {
		t.Errorf("it is %+v, was %+v", got, before)
	}
	err := s.View(func(v storage.View) error {
		for r, err := range storage.LiveEverywhere(v, storage.KindHome) {
			if err != nil || !r.At.Equal(c.now) {
				t.Errorf("the record is of %s, want %s; %v", r.At, c.now, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Touch(t.Context(), storage.KindHome.Ref("org", "none")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a missing home: %v", err)
	}
}
