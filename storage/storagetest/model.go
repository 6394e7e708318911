package storagetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

// known is the model's state of one home.
type known struct {
	name             string
	created, updated time.Time
	deleted          bool
	first            uint64
}

// model is a map that models a store.
type model struct {
	store *storage.Store
	org   string
	clock time.Time
	homes map[string]known
}

var modelOrgs atomic.Int64

// upsertMatchesMap applies random imports, deletions and renamings to a store and compares
// the store with a map.
func (c conformance) upsertMatchesMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{org: fmt.Sprintf("model%d", modelOrgs.Add(1)), clock: Start, homes: map[string]known{}}
		m.store = storage.NewStore(c.log, c.replica, func() time.Time { return m.clock })
		rt.Repeat(map[string]func(*rapid.T){
			"upsert": func(rt *rapid.T) { m.upsert(t, rt) },
			"delete": func(rt *rapid.T) { m.delete(t, rt) },
			"rename": func(rt *rapid.T) { m.rename(t, rt) },
			"":       m.compare,
		})
	})
}

func homeIDs() *rapid.Generator[string] { return rapid.SampledFrom([]string{"a", "b", "c", "d"}) }

// unknownZone makes a home invalid.
const unknownZone = "Nowhere/Town"

// names has few values, so that repeated values are frequent. The home called unknownZone
// has that time zone.
func names() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "One", "Two", unknownZone})
}

func (m *model) upsert(t *testing.T, rt *rapid.T) {
	m.clock = m.clock.Add(time.Second)
	type line struct{ id, name string }
	lines := rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) line {
		return line{homeIDs().Draw(rt, "id"), names().Draw(rt, "name")}
	}), 0, 6, func(l line) string { return l.id }).Draw(rt, "lines")
	entities := make([]storage.Entity, len(lines))
	for i, l := range lines {
		h := Home(m.org, l.id, "")
		if h.Name = l.name; l.name == unknownZone {
			h.Timezone = unknownZone
		}
		entities[i] = h
	}
	for i, r := range m.store.Upsert(t.Context(), entities) {
		want := m.wants(lines[i].id, lines[i].name)
		var invalid *storage.InvalidError
		switch {
		case want == "" && !errors.As(r.Err, &invalid):
			rt.Fatalf("line %d, an invalid one, got %+v", i, r)
		case want != "" && (r.Err != nil || r.Change != want):
			rt.Fatalf("line %d got %+v, want %s", i, r, want)
		}
	}
}

// wants applies one line to the model and returns the expected change, "" for a refusal.
func (m *model) wants(id, name string) storage.Change {
	was, there := m.homes[id]
	switch {
	case name == unknownZone:
		return ""
	case there && !was.deleted && was.name == name:
		return storage.Unchanged
	case there && !was.deleted:
		m.homes[id] = known{name: name, created: was.created, updated: m.clock, first: was.first}
		return storage.Updated
	default:
		m.homes[id] = known{name: name, created: m.clock, updated: m.clock, first: was.first}
		return storage.Created
	}
}

func (m *model) delete(t *testing.T, rt *rapid.T) {
	id := homeIDs().Draw(rt, "id")
	err := m.store.Delete(t.Context(), storage.KindHome.Ref(m.org, id))
	if was, there := m.homes[id]; there && !was.deleted {
		was.deleted = true
		m.homes[id] = was
		if err != nil {
			rt.Fatalf("delete %s: %v", id, err)
		}
	} else if !errors.Is(err, storage.ErrNotFound) {
		rt.Fatalf("delete %s, which is not there: %v", id, err)
	}
}

func (m *model) rename(t *testing.T, rt *rapid.T) {
	m.clock = m.clock.Add(time.Second)
	id, name := homeIDs().Draw(rt, "id"), rapid.SampledFrom([]string{"One", "Three"}).Draw(rt, "name")
	_, err := storage.Update(t.Context(), m.store, storage.KindHome.Ref(m.org, id), func(h *storage.Home) error {
		h.Name = name
		return nil
	})
	if was, there := m.homes[id]; there && !was.deleted {
		was.name, was.updated = name, m.clock
		m.homes[id] = was
		if err != nil {
			rt.Fatalf("rename %s: %v", id, err)
		}
	} else if !errors.Is(err, storage.ErrNotFound) {
		rt.Fatalf("rename %s, which is not there: %v", id, err)
	}
}

// compare compares the whole organization with the model. It also checks that a home's
// First never changes.
func (m *model) compare(rt *rapid.T) {
	live := map[string]known{}
	err := m.store.View(func(v storage.View) error {
		var failed error
		err := v.Scan(storage.KindHome, m.org, "", func(r storage.Record) bool {
			want := m.homes[r.ID]
			if want.first == 0 {
				want.first = r.First
				m.homes[r.ID] = want
			}
			if r.First != want.first || r.Deleted != want.deleted || r.First > r.Revision {
				failed = fmt.Errorf("%s has revision %d, first %d, deleted %v, want %+v", r.ID, r.Revision, r.First, r.Deleted, want)
			}
			if !r.Deleted {
				h, err := storage.Decode[storage.Home](r)
				failed = errors.Join(failed, err)
				live[r.ID] = known{name: h.Name, created: h.CreatedAt.Time, updated: h.UpdatedAt.Time, first: r.First}
			}
			return failed == nil
		})
		if n := v.Count(storage.KindHome, m.org); n != len(live) {
			failed = errors.Join(failed, fmt.Errorf("the count is %d of %d", n, len(live)))
		}
		return errors.Join(err, failed)
	})
	want := map[string]known{}
	for id, k := range m.homes {
		if !k.deleted {
			want[id] = k
		}
	}
	if err != nil || !reflect.DeepEqual(live, want) {
		rt.Fatalf("the store has %+v (%v), want %+v", live, err, want)
	}
}
