package storage_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// clock is a clock that only the test moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newStore(t *testing.T) (*storage.Store, *storagetest.Log, *storagetest.Replica, *clock) {
	t.Helper()
	c := &clock{storagetest.Start}
	s, log, replica := storagetest.NewStore(c.Now)
	return s, log, replica, c
}

func home(id, name string) *storage.Home {
	h := storagetest.Home("org", id, "")
	h.Name = name
	return h
}

func getHome(t *testing.T, s *storage.Store, id string) storage.Home {
	t.Helper()
	h, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", id))
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return h
}

func rename(name string) func(*storage.Home) error {
	return func(h *storage.Home) error { h.Name = name; return nil }
}

// update renames the home h.
func update(t *testing.T, s *storage.Store, name string) (storage.Home, error) {
	t.Helper()
	return storage.Update(t.Context(), s, storage.KindHome.Ref("org", "h"), rename(name))
}

// record returns a home's record from the replica.
func record(t *testing.T, s *storage.Store, id string) (r storage.Record) {
	t.Helper()
	err := s.View(func(v storage.View) (err error) { r, err = v.Get(storage.KindHome.Ref("org", id)); return err })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCreate_SetsTimes(t *testing.T) {
	s, _, _, c := newStore(t)
	c.now = time.Date(2026, 7, 1, 14, 0, 0, 123_999_999, time.FixedZone("", 2*3600))
	if err := s.Create(t.Context(), home("h", "One")); err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 7, 1, 12, 0, 0, 123_000_000, time.UTC)
	h := getHome(t, s, "h")
	if !h.CreatedAt.Equal(want) || !h.UpdatedAt.Equal(want) || h.OrganizationID != "org" || h.Name != "One" {
		t.Errorf("got %+v, want both times %s", h, want)
	}
}

func TestCreate_Exists(t *testing.T) {
	s, log, replica, _ := newStore(t)
	if err := s.Create(t.Context(), home("h", "One")); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), home("h", "Two")); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a second create: %v, want ErrExists", err)
	}
	// Another process creates the home, and the replica does not have it yet.
	defer replica.Hold()()
	log.Append(t.Context(), storage.Write{Ref: storage.KindHome.Ref("org", "i"), Value: []byte(`{}`)})
	if err := s.Create(t.Context(), home("i", "Mine")); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a create that lost a race: %v, want ErrExists", err)
	}
	if h := getHome(t, s, "h"); h.Name != "One" {
		t.Errorf("the home is now %q", h.Name)
	}
}

func TestCreate_AfterDelete(t *testing.T) {
	s, _, _, c := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	first := record(t, s, "h").Revision
	if err := s.Delete(t.Context(), storage.KindHome.Ref("org", "h")); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "h")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Get of a deleted home: %v", err)
	}
	if err := s.Delete(t.Context(), storage.KindHome.Ref("org", "h")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a second delete: %v", err)
	}
	c.now = c.now.Add(time.Hour)
	if err := s.Create(t.Context(), home("h", "Two")); err != nil {
		t.Fatal(err)
	}
	if h := getHome(t, s, "h"); !h.CreatedAt.Equal(c.now) || h.Name != "Two" {
		t.Errorf("created again the home is %+v", h)
	}
	if r := record(t, s, "h"); r.First != first || r.Revision == first {
		t.Errorf("created again the record is %#v, want First %d", r, first)
	}
}

func TestStore_RefusesInvalid(t *testing.T) {
	s, log, _, _ := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	wrong := func(err error) {
		t.Helper()
		var invalid *storage.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "timezone" || !strings.HasSuffix(invalid.Fields[0].Message, `, not "Mars"`) {
			t.Errorf("got %v, want an error of timezone", err)
		}
	}
	mars := func(id string) *storage.Home {
		h := home(id, "Two")
		h.Timezone = "Mars"
		return h
	}
	wrong(s.Create(t.Context(), mars("i")))
	_, err := storage.Update(t.Context(), s, storage.KindHome.Ref("org", "h"), func(h *storage.Home) error {
		h.Timezone = "Mars"
		return nil
	})
	wrong(err)
	wrong(s.Upsert(t.Context(), []storage.Entity{mars("h")})[0].Err)
	if last, _ := log.Last(t.Context()); last != 1 {
		t.Errorf("%d writes went to the log, want only the first", last)
	}
	if err := s.Delete(t.Context(), storage.KindHome.Ref("org", "a.b")); err == nil || errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a reference with three tokens: %v", err)
	}
}

func TestStore_LogUnavailable(t *testing.T) {
	s, log, _, _ := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	log.Intercept(func(storage.Write) error { return storage.ErrUnavailable })
	_, updated := update(t, s, "Two")
	for what, err := range map[string]error{
		"create": s.Create(t.Context(), home("i", "")),
		"update": updated,
		"delete": s.Delete(t.Context(), storage.KindHome.Ref("org", "h")),
		"upsert": s.Upsert(t.Context(), []storage.Entity{home("h", "Two")})[0].Err,
	} {
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", what, err)
		}
	}
	if h := getHome(t, s, "h"); h.Name != "One" {
		t.Errorf("the home is now %q", h.Name)
	}
}

func TestUpdate_StoresChange(t *testing.T) {
	s, _, _, c := newStore(t)
	if _, err := update(t, s, "Two"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an unknown home: %v", err)
	}
	storagetest.Put(t, s, home("h", "One"))
	created := c.now
	c.now = c.now.Add(time.Minute)
	got, err := update(t, s, "Two")
	if err != nil {
		t.Fatal(err)
	}
	h := getHome(t, s, "h")
	if h.Name != "Two" || !h.CreatedAt.Equal(created) || !h.UpdatedAt.Equal(c.now) || !reflect.DeepEqual(h, got) {
		t.Errorf("stored %+v, returned %+v", h, got)
	}
	refusal := errors.New("not now")
	_, err = storage.Update(t.Context(), s, h.Ref(), func(*storage.Home) error { return refusal })
	if !errors.Is(err, refusal) {
		t.Errorf("a change that refuses: %v", err)
	}
}

// elsewhere renames the home h like another process.
func elsewhere(t *testing.T, log *storagetest.Log, name string) {
	t.Helper()
	other := storage.NewStore(log, log.Replica(), func() time.Time { return storagetest.Start })
	if _, err := update(t, other, name); err != nil {
		t.Error(err)
	}
}

func TestUpdate_RepeatsAfterConflict(t *testing.T) {
	s, log, replica, _ := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	release := replica.Hold() // the replica receives the write later
	elsewhere(t, log, "Theirs")
	seen := make(chan string, 9)
	done := make(chan error)
	go func() {
		_, err := storage.Update(t.Context(), s, storage.KindHome.Ref("org", "h"), func(h *storage.Home) error {
			seen <- h.Name
			h.Name += " and ours"
			return nil
		})
		done <- err
	}()
	if first := <-seen; first != "One" {
		t.Fatalf("the first attempt saw %q", first)
	}
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if h := getHome(t, s, "h"); h.Name != "Theirs and ours" {
		t.Errorf("the home is %q: a write was lost", h.Name)
	}
}

func TestUpdate_EndlessConflicts(t *testing.T) {
	s, log, _, _ := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	rivals := 0
	var interfere func(storage.Write) error
	interfere = func(storage.Write) error {
		rivals++
		log.Intercept(nil)
		elsewhere(t, log, fmt.Sprint("rival ", rivals))
		log.Intercept(interfere)
		return nil
	}
	log.Intercept(interfere)
	if _, err := update(t, s, "Mine"); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if rivals < 2 || rivals > 10 {
		t.Errorf("Update made %d attempts, want a few", rivals)
	}
}

func TestUpdate_KeepsFieldsOutsideJSON(t *testing.T) {
	s, _, _, _ := newStore(t)
	p := storage.NewUserPreferences("org", "dev")
	p.Name = "Summer"
	storagetest.Put(t, s, &p)
	got, err := storage.Update(t.Context(), s, p.Ref(), func(u *storage.UserPreferences) error { u.Name = "Winter"; return nil })
	if err != nil || got.DeviceID != "dev" || got.OrganizationID != "org" || got.Name != "Winter" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDelete_RepeatsAfterConflict(t *testing.T) {
	s, log, _, _ := newStore(t)
	storagetest.Put(t, s, home("h", "One"))
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		elsewhere(t, log, "Theirs")
		return nil
	})
	ref := storage.KindHome.Ref("org", "h")
	if err := s.Delete(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	tombstone(t, s, ref)
}

func TestList_Pages(t *testing.T) {
	s, _, _, _ := newStore(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		storagetest.Put(t, s, home(id, id), storagetest.Home("other", id, ""))
	}
	if err := s.Delete(t.Context(), storage.KindHome.Ref("org", "b")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after string
		limit int
		want  string
	}{
		{"", 9, "a c d"}, {"", 2, "a c"}, {"a", 2, "c d"}, {"a", 1, "c"}, {"d", 9, ""}, {"", 0, ""},
	} {
		list, err := storage.Query(s, func(v storage.View) ([]storage.Home, error) {
			return storage.ReadList[storage.Home](v, storage.KindHome, "org", tt.after, tt.limit, nil)
		})
		var ids []string
		for _, h := range list {
			ids = append(ids, h.ID)
		}
		if got := strings.Join(ids, " "); err != nil || list == nil || got != tt.want {
			t.Errorf("after %q, at most %d: %q (%v), want %q", tt.after, tt.limit, got, err, tt.want)
		}
	}
}

func TestDecode_ErrorNamesEntity(t *testing.T) {
	s, log, _, _ := newStore(t)
	log.Append(t.Context(), storage.Write{Ref: storage.KindHome.Ref("org", "h"), Value: []byte(`{"name": 1}`)})
	_, one := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "h"))
	var all error
	err := s.View(func(v storage.View) error {
		_, err := storage.ReadList[storage.Home](v, storage.KindHome, "org", "", 9, func(damaged error) { all = damaged })
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, err := range []error{one, all} {
		if err == nil || !strings.Contains(err.Error(), "home/org/h at revision 1") {
			t.Errorf("got %v", err)
		}
	}
}

// TestStore_ReadYourWrites checks that a write returns when reads include it, and not
// earlier.
func TestStore_ReadYourWrites(t *testing.T) {
	s, log, replica, _ := newStore(t)
	release := replica.Hold()
	ctx, cancel := context.WithCancel(t.Context())
	log.Intercept(func(storage.Write) error { cancel(); return nil })
	if err := s.Create(ctx, home("h", "")); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a create returned %v before it could be read", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	if r := s.Upsert(ctx, []storage.Entity{home("i", "")}); !errors.Is(r[0].Err, storage.ErrUnavailable) {
		t.Errorf("an upsert returned %+v before it could be read", r)
	}
	release()
	getHome(t, s, "h") // they were stored nevertheless
	getHome(t, s, "i")
}

func TestWaitFor_ContextEnds(t *testing.T) {
	s, log, replica, _ := newStore(t)
	release := replica.Hold()
	log.Append(t.Context(), storage.Write{Ref: storage.KindHome.Ref("org", "h"), Value: []byte(`{}`)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.CatchUp(ctx); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	release()
	if err := s.CatchUp(t.Context()); err != nil || s.Revision() != 1 {
		t.Errorf("got %v at %d", err, s.Revision())
	}
}
