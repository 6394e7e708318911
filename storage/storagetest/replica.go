package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gridhook/gridhook/storage"
)

// Replica is an in-memory storage.Replica.
type Replica struct {
	mu      sync.Mutex
	state   *state
	held    []storage.Record // records to apply after the release
	holding bool
	changed chan struct{}
}

var _ storage.Replica = (*Replica)(nil)

func newReplica() *Replica {
	return &Replica{changed: make(chan struct{}), state: &state{kinds: map[storage.Kind][]storage.Record{}, owners: map[owned]string{}}}
}

// Hold stops the replica from applying records until release is called.
func (r *Replica) Hold() (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.holding = false
		r.apply(r.held)
		r.held = nil
	}
}

// Forget removes the tombstones of entities, as a replica does with expired tombstones.
func (r *Replica) Forget(refs ...storage.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := &state{kinds: maps.Clone(r.state.kinds), owners: r.state.owners, revision: r.state.revision}
	for _, ref := range refs {
		next.kinds[ref.Kind] = slices.DeleteFunc(slices.Clone(next.kinds[ref.Kind]), func(rec storage.Record) bool {
			return rec.Ref == ref && rec.Deleted
		})
	}
	r.state = next
}

func (r *Replica) offer(records []storage.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holding {
		r.held = append(r.held, records...)
		return
	}
	r.apply(records)
}

// apply replaces the state with a new state that includes the records. An open view
// therefore does not change.
func (r *Replica) apply(records []storage.Record) {
	if len(records) == 0 {
		return
	}
	next := &state{kinds: maps.Clone(r.state.kinds), owners: maps.Clone(r.state.owners)}
	own := map[storage.Kind]bool{}
	for _, rec := range records {
		if rec.First == 0 {
			rec.First = rec.Revision
		}
		if !own[rec.Kind] {
			own[rec.Kind], next.kinds[rec.Kind] = true, slices.Clone(next.kinds[rec.Kind])
		}
		next.put(rec)
		next.revision = rec.Revision
	}
	r.state = next
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Replica) now() (*state, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.changed
}

// View runs fn on a consistent snapshot.
func (r *Replica) View(fn func(storage.View) error) error {
	s, _ := r.now()
	return fn(s)
}

// Revision returns the last applied revision.
func (r *Replica) Revision() uint64 {
	s, _ := r.now()
	return s.revision
}

// WaitFor returns when the replica has applied the revision.
func (r *Replica) WaitFor(ctx context.Context, revision uint64) error {
	for {
		s, changed := r.now()
		if s.revision >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: revision %d: %w", storage.ErrUnavailable, revision, ctx.Err())
		}
	}
}

// state is a storage.View with all records at one revision. The records of each kind are
// sorted by organization and identifier. A published state never changes.
type state struct {
	revision uint64
	kinds    map[storage.Kind][]storage.Record
	owners   map[owned]string
}

type owned struct {
	kind storage.Kind
	id   string
}

func (s *state) find(ref storage.Ref) (int, bool) {
	return slices.BinarySearchFunc(s.kinds[ref.Kind], ref, func(r storage.Record, ref storage.Ref) int {
		return cmp.Or(cmp.Compare(r.Org, ref.Org), cmp.Compare(r.ID, ref.ID))
	})
}

func (s *state) put(r storage.Record) {
	if mark, err := s.Get(storage.ErasureRef(r.Organization())); err == nil && mark.Hides(r.At) {
		return
	}
	if r.Kind == storage.KindErasure {
		s.erase(r.ID)
	}
	i, found := s.find(r.Ref)
	if found {
		s.kinds[r.Kind][i] = r
	} else {
		s.kinds[r.Kind] = slices.Insert(s.kinds[r.Kind], i, r)
	}
	if r.Kind == storage.KindKey {
		s.owners[owned{r.Kind, r.ID}] = r.Org
	}
}

// erase removes every record of the organization with the mark.
func (s *state) erase(mark string) {
	gone := func(r storage.Record) bool {
		return storage.ErasureRef(r.Organization()).ID == mark
	}
	for kind, records := range s.kinds {
		s.kinds[kind] = slices.DeleteFunc(slices.Clone(records), gone)
	}
	maps.DeleteFunc(s.owners, func(_ owned, org string) bool { return storage.ErasureRef(org).ID == mark })
}

// Revision returns the last revision that the view includes.
func (s *state) Revision() uint64 { return s.revision }

// Get returns a record, including a tombstone.
func (s *state) Get(ref storage.Ref) (storage.Record, error) {
	i, found := s.find(ref)
	if !found {
		return storage.Record{}, storage.ErrNotFound
	}
	return s.kinds[ref.Kind][i], nil
}

// Scan calls fn with an organization's records, in order.
func (s *state) Scan(kind storage.Kind, org, after string, fn func(storage.Record) bool) error {
	records := s.kinds[kind]
	i, found := s.find(storage.Ref{Kind: kind, Org: org, ID: after})
	if found {
		i++
	}
	for ; i < len(records) && records[i].Org == org; i++ {
		if !fn(records[i]) {
			break
		}
	}
	return nil
}

// Devices calls fn with the live devices of a home, in order.
func (s *state) Devices(org, homeID, after string, fn func(storage.Record) bool) error {
	return s.Scan(storage.KindHVACDevice, org, after, func(r storage.Record) bool {
		return storage.HomeOf(r) != homeID || fn(r)
	})
}

// Count returns the number of an organization's live entities of a kind.
func (s *state) Count(kind storage.Kind, org string) (n int) {
	_ = s.Scan(kind, org, "", func(r storage.Record) bool {
		if !r.Deleted {
			n++
		}
		return true
	})
	return n
}

// Deleted returns the number of an organization's tombstones of a kind.
func (s *state) Deleted(kind storage.Kind, org string) (n int) {
	_ = s.Scan(kind, org, "", func(r storage.Record) bool {
		if r.Deleted {
			n++
		}
		return true
	})
	return n
}

// Size returns the size of an organization's records.
func (s *state) Size(org string) (n int64) {
	for _, records := range s.kinds {
		for _, r := range records {
			if r.Org == org {
				n += r.Size()
			}
		}
	}
	return n
}

// Owner returns the organization of a key.
func (s *state) Owner(kind storage.Kind, id string) (string, error) {
	org, ok := s.owners[owned{kind, id}]
	if !ok {
		return "", storage.ErrNotFound
	}
	return org, nil
}
