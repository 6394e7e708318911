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

// records keeps what was made of records, by what they are of.
type records[V any] struct{ latest[storage.Ref, V] }

func newRecords[V any](most int) records[V] { return records[V]{latest[storage.Ref, V]{most: most}} }

// read reads an entity, decoded by decode where it is not kept. What it refers to is
// shared and must not be changed. Errors: storage.ErrNotFound.
func (l *records[V]) read(v storage.View, ref storage.Ref, decode func(storage.Record) (V, error)) (value V, err error) {
	record, err := v.Get(ref)
	if err != nil {
		return value, err
	}
	if len(record.Value) > keptRecord {
		return decode(record)
	}
	if have, ok := l.get(ref, record.Revision); ok {
		return have, nil
	}
	// Its identifiers are parts of the request, which would be kept whole with them.
	ref.Org, ref.ID = strings.Clone(ref.Org), strings.Clone(ref.ID)
	record.Ref = ref
	if value, err = decode(record); err == nil {
		l.keep(ref, record.Revision, value)
	}
	return value, err
}
