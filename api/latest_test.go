package api

import (
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
		got, err := l.read(v, storage.HomeRef("org", step.id), decode)
		if err != nil || got != int(step.revision) || decoded != step.decoded {
			t.Errorf("step %d: %d, %v after %d were decoded, want %d", i, got, err, decoded, step.decoded)
		}
	}
}
