package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// oneRecord is a view of one record.
type oneRecord struct {
	storage.View
	record storage.Record
}

func (v *oneRecord) Get(storage.Ref) (storage.Record, error) { return v.record, nil }

// What is read again is decoded again when it has changed, and when it is long: no
// partner's records fill the memory.
func TestWhatIsReadAgainIsDecodedOnce(t *testing.T) {
	t.Parallel()
	long := []byte(strings.Repeat("x", keptRecord+1))
	l, v, decoded := newRecords[int](2), &oneRecord{}, 0
	decode := func(r storage.Record) (int, error) { decoded++; return int(r.Revision), nil }
	for i, step := range []struct {
		id       string
		revision uint64
		value    []byte
		decoded  int // after it
	}{
		{"a", 7, nil, 1},
		{"a", 7, nil, 1},
		{"a", 8, nil, 2}, // changed
		{"b", 8, nil, 3},
		{"a", 8, nil, 3},
		{"long", 9, long, 4},
		{"long", 9, long, 5},
		{"b", 8, nil, 5},
		{"c", 9, nil, 6}, // no room: it begins anew
		{"b", 8, nil, 7},
	} {
		v.record = storage.Record{Revision: step.revision, Value: step.value}
		got, kept, err := l.read(v, storage.HomeRef("org", step.id), decode)
		if err != nil || got != int(step.revision) || decoded != step.decoded || kept == (step.id == "long") {
			t.Errorf("step %d: %d, %v, kept: %v, after %d were decoded, want %d", i, got, err, kept, decoded, step.decoded)
		}
	}
}

// oneReplica is a replica of one record, at a revision of its own.
type oneReplica struct {
	storage.Replica
	oneRecord
	revision uint64
	views    int
}

func (r *oneReplica) Revision() uint64 { return r.revision }
func (r *oneReplica) View(fn func(storage.View) error) error {
	r.views++
	return fn(r)
}

func (r *oneReplica) Owner(_ storage.Kind, id string) (string, error) {
	if id != "a" {
		return "", storage.ErrNotFound
	}
	return "org", nil
}

// What nobody wrote anything since is not even looked up, and what was written is never
// overlooked.
func TestWhatIsReadAgainIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	for _, org := range []string{"org", ""} { // named, and looked up
		r, decoded := &oneReplica{}, 0
		store, l := storage.NewStore(nil, r, nil), newRecords[int](2)
		decode := func(record storage.Record) (int, error) {
			if decoded++; record.Org != "org" {
				t.Errorf("a record of organization %q is decoded", record.Org)
			}
			return int(record.Revision), nil
		}
		for i, step := range []struct {
			revision, whole uint64 // of the record and of the store
			value           []byte
			views, decoded  int // after it
		}{
			{7, 9, nil, 1, 1},
			{7, 9, nil, 1, 1},
			{7, 10, nil, 2, 1}, // something else was written
			{7, 10, nil, 2, 1},
			{11, 11, nil, 3, 2}, // it was written
			{11, 11, nil, 3, 2},
			{12, 12, []byte(strings.Repeat("x", keptRecord+1)), 4, 3}, // too long to keep
			{12, 12, []byte(strings.Repeat("x", keptRecord+1)), 5, 4},
		} {
			r.revision = step.whole
			r.record = storage.Record{Ref: storage.Ref{Kind: storage.KindKey, Org: "org", ID: "a"}, Revision: step.revision, Value: step.value}
			got, err := l.of(store, storage.Ref{Kind: storage.KindKey, Org: org, ID: "a"}, decode)
			if err != nil || got != int(step.revision) || r.views != step.views || decoded != step.decoded {
				t.Errorf("organization %q, step %d: %d, %v after %d views and %d decoded, want %d and %d", org, i, got, err, r.views, decoded, step.views, step.decoded)
			}
		}
	}
	if _, err := (&records[int]{}).of(storage.NewStore(nil, &oneReplica{}, nil), storage.Ref{Kind: storage.KindKey, ID: "nobody's"}, nil); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("what nobody owns: %v", err)
	}
}
