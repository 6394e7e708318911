package api

import (
	"strings"
	"sync"

	"github.com/gridhook/gridhook/storage"
)

// latest keeps what was made of things that are stored, each for as long as its revision
// is the same. Whoever asks has read the revision from the replica, so that nothing old
// is ever taken for new.
type latest[K comparable, V any] struct {
	most int // things; when there are more it begins anew

	mu   sync.RWMutex
	made map[K]madeAt[V]
}

type madeAt[V any] struct {
	revision uint64
	value    V
}

// of is what was made of a thing at a revision, made now where nothing is kept.
func (l *latest[K, V]) of(id K, revision uint64, fresh func() (V, error)) (V, error) {
	if have, ok := l.get(id, revision); ok {
		return have, nil
	}
	value, err := fresh()
	if err == nil {
		l.keep(id, revision, value)
	}
	return value, err
}

func (l *latest[K, V]) get(id K, revision uint64) (value V, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	have, ok := l.made[id]
	return have.value, ok && have.revision == revision
}

func (l *latest[K, V]) keep(id K, revision uint64, value V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil || len(l.made) >= l.most {
		l.made = map[K]madeAt[V]{}
	}
	l.made[id] = madeAt[V]{revision, value}
}

// keptRecord is the longest record of which is kept what was made, in bytes: a line of an
// import may be a thousand times as long as most.
const keptRecord = 4 << 10

// records keeps what was made of records, by what they are of. While nothing at all is
// written not even the records are looked up.
type records[V any] struct {
	made latest[storage.Ref, V] // at the record's own revision
	seen latest[storage.Ref, V] // at that of the whole store
}

func newRecords[V any](most int) records[V] {
	return records[V]{latest[storage.Ref, V]{most: most}, latest[storage.Ref, V]{most: most}}
}

// of reads an entity, decoded by decode where it is not kept. An organization that is not
// named is looked up by the identifier. What the value refers to is shared and must not be
// changed. Errors: storage.ErrNotFound.
func (l *records[V]) of(s *storage.Store, ref storage.Ref, decode func(storage.Record) (V, error)) (V, error) {
	if have, ok := l.seen.get(ref, s.Revision()); ok {
		return have, nil
	}
	return l.look(s, ref, decode)
}

func (l *records[V]) look(s *storage.Store, ref storage.Ref, decode func(storage.Record) (V, error)) (value V, err error) {
	err = s.View(func(v storage.View) error {
		of := ref
		if of.Org == "" {
			if of.Org, err = v.Owner(of.Kind, of.ID); err != nil {
				return err
			}
		}
		var kept bool
		if value, kept, err = l.read(v, of, decode); kept {
			l.seen.keep(cloned(ref), v.Revision(), value)
		}
		return err
	})
	return value, err
}

// read is of with a reading that is open, of an entity whose organization is named. Kept
// says that its value is kept.
func (l *records[V]) read(v storage.View, ref storage.Ref, decode func(storage.Record) (V, error)) (value V, kept bool, err error) {
	record, err := v.Get(ref)
	if err != nil {
		return value, false, err
	}
	if len(record.Value) > keptRecord {
		value, err = decode(record)
		return value, false, err
	}
	if have, ok := l.made.get(ref, record.Revision); ok {
		return have, true, nil
	}
	record.Ref = cloned(ref)
	if value, err = decode(record); err == nil {
		l.made.keep(record.Ref, record.Revision, value)
	}
	return value, err == nil, err
}

// cloned is a reference to keep. Its identifiers are parts of the request, which would be
// kept whole with them.
func cloned(ref storage.Ref) storage.Ref {
	ref.Org, ref.ID = strings.Clone(ref.Org), strings.Clone(ref.ID)
	return ref
}
