package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Replica is a storage.Replica in a bbolt file.
type Replica struct {
	file *boltfile.File
	log  *slog.Logger

	mu       sync.Mutex
	revision uint64
	// following says that what the replica has is the log's: until then it may
	// be another's, whose revisions mean nothing.
	following bool
	changed   chan struct{} // closed, and replaced, at every step forward
}

var _ storage.Replica = (*Replica)(nil)

// Open opens the replica's file, or makes it. A damaged file is set aside as
// PATH.corrupt-TIME and a new one is begun. The error says so when another
// process holds the file.
func Open(path string, log *slog.Logger) (*Replica, error) {
	file, err := boltfile.Open(path, log, bucketNames()...)
	if err != nil {
		return nil, err
	}
	r := &Replica{file: file, log: log, changed: make(chan struct{})}
	err = file.Read(func(reading *boltfile.Reading) error { r.revision = view{reading}.Revision(); return nil })
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Close closes the file.
func (r *Replica) Close() error { return r.file.Close() }

// Revision is the last revision applied.
func (r *Replica) Revision() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revision
}

// WaitFor returns once the replica follows the log and has applied the revision,
// or with the context's error joined to storage.ErrUnavailable.
func (r *Replica) WaitFor(ctx context.Context, revision uint64) error {
	for {
		r.mu.Lock()
		reached, changed := r.following && r.revision >= revision, r.changed
		r.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: the replica is at revision %d and %d was awaited: %w",
				storage.ErrUnavailable, r.Revision(), revision, ctx.Err())
		}
	}
}

func (r *Replica) advance(revision uint64) {
	r.step(func() { r.revision = revision })
}

// step makes a change and wakes whoever waits.
func (r *Replica) step(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// ErrLogBehind says that the log holds less than the replica has seen: it lost
// writes or was restored from an old copy.
var ErrLogBehind = errors.New("the log of record is behind this replica")

// Follow applies the log to the replica until ctx ends. It begins anew when the
// replica belongs to another log, and refuses with ErrLogBehind when the log has
// lost what the replica has.
func (r *Replica) Follow(ctx context.Context, log storage.Log) error {
	identity, err := log.Identity(ctx)
	if err != nil {
		return err
	}
	if err := r.adopt(identity); err != nil {
		return err
	}
	last, err := log.Last(ctx)
	if err != nil {
		return err
	}
	if revision := r.Revision(); last < revision {
		return fmt.Errorf("%w: it ends at %d and the replica is at %d; restore the log, or delete %s to go on with what it holds",
			ErrLogBehind, last, revision, r.file.Path())
	}
	r.step(func() { r.following = true })
	return log.Tail(ctx, r.Revision(), r.apply)
}

// adopt ties the replica to a log, wiping what came from another one.
func (r *Replica) adopt(identity string) error {
	wiped, err := r.file.Adopt(identity)
	if wiped {
		r.log.Warn("the log of record is another one than this replica's: rebuilding the replica")
		r.advance(0)
	}
	return err
}
