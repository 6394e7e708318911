package storagetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Log is an in-memory storage.Log. Its replicas apply each write before Append returns,
// unless they are held back.
type Log struct {
	mu       sync.Mutex
	history  []storage.Record // by revision, from 1
	last     map[storage.Ref]uint64
	changed  chan struct{} // closed and replaced at every write
	replicas []*Replica
	fail     func(storage.Write) error
}

var _ storage.Log = (*Log)(nil)

// DeletionsAge is the age at which a tombstone with Forget expires. Only Expire removes
// tombstones from this log.
const DeletionsAge = 30 * 24 * time.Hour

// NewLog returns an empty log.
func NewLog() *Log {
	return &Log{last: map[storage.Ref]uint64{}, changed: make(chan struct{})}
}

// Intercept calls fn before every write. An error of fn refuses the write and its whole
// batch. A nil fn ends the interception. fn may itself write to the log, like another
// process in between.
func (l *Log) Intercept(fn func(storage.Write) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = fn
}

// Expire removes the tombstone of an entity from the log. Replicas keep it.
func (l *Log) Expire(ref storage.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.last, ref)
}

// Append stores one write.
func (l *Log) Append(ctx context.Context, w storage.Write) (uint64, error) {
	return l.AppendBatch(ctx, []storage.Write{w})
}

// AppendBatch stores the writes atomically.
func (l *Log) AppendBatch(ctx context.Context, ws []storage.Write) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, storage.ErrUnavailable
	}
	l.mu.Lock()
	fail := l.fail
	l.mu.Unlock()
	for _, w := range ws {
		if fail == nil {
			break
		}
		if err := fail(w); err != nil {
			return 0, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range ws {
		if l.last[w.Ref] != w.Expect {
			return 0, storage.ErrConflict
		}
	}
	records := make([]storage.Record, len(ws))
	for i, w := range ws {
		records[i] = l.store(w)
	}
	close(l.changed)
	l.changed = make(chan struct{})
	for _, r := range l.replicas {
		r.offer(records)
	}
	return uint64(len(l.history)), nil
}

func (l *Log) store(w storage.Write) storage.Record {
	revision := uint64(len(l.history)) + 1
	r := storage.Record{
		Ref: w.Ref, Revision: revision, First: w.First, At: w.At.UTC(), Deleted: w.Deleted, Value: slices.Clone(w.Value),
	}
	if w.Forget {
		r.Expires = w.At.Add(DeletionsAge)
	}
	l.history, l.last[w.Ref] = append(l.history, r), revision
	return r
}

// Last returns the revision of the newest record.
func (l *Log) Last(context.Context) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.history)), nil
}

// Newest returns Last: this log forgets nothing.
func (l *Log) Newest(ctx context.Context) (uint64, error) { return l.Last(ctx) }

// Read returns the last record of an entity.
func (l *Log) Read(_ context.Context, ref storage.Ref) (storage.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if revision := l.last[ref]; revision > 0 {
		return l.history[revision-1], nil
	}
	return storage.Record{}, nil
}

// Erase removes the records of an organization. Replicas keep them.
func (l *Log) Erase(_ context.Context, org string) (map[storage.Kind]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	erased := map[storage.Kind]int{}
	for ref := range l.last {
		if ref.Organization() == org {
			erased[ref.Kind]++
			delete(l.last, ref)
		}
	}
	return erased, nil
}

// State describes the log. It forgets no tombstone, and a test has one log.
func (l *Log) State(ctx context.Context) (storage.LogState, error) {
	last, err := l.Last(ctx)
	return storage.LogState{Identity: "in memory", Last: last}, err
}

// Tail calls apply with the last record of each entity that was written after a revision,
// and then with every new record.
func (l *Log) Tail(ctx context.Context, after uint64, apply func([]storage.Record) error) error {
	for {
		batch, changed := l.after(after)
		if len(batch) > 0 {
			if err := apply(batch); err != nil {
				return err
			}
			after = batch[len(batch)-1].Revision
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// after returns the records after a revision that a log with one record per entity still
// has.
func (l *Log) after(revision uint64) ([]storage.Record, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var batch []storage.Record
	for _, r := range l.history[min(revision, uint64(len(l.history))):] {
		if l.last[r.Ref] == r.Revision {
			batch = append(batch, r)
		}
	}
	return batch, l.changed
}

// Replica returns a new replica with all records.
func (l *Log) Replica() *Replica {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := newReplica()
	r.offer(l.history)
	l.replicas = append(l.replicas, r)
	return r
}
