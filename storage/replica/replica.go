package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Replica is a storage.Replica in a bbolt file.
type Replica struct {
	file *boltfile.File
	log  *slog.Logger

	onErasure func(by time.Time) error // may be nil

	mu       sync.Mutex
	revision uint64
	// following says that the replica's content belongs to the log. Before, it may belong
	// to another log, whose revisions mean nothing.
	following bool
	// identity is the identity of the log that the replica follows.
	identity string
	changed  chan struct{} // closed and replaced at every step
}

var _ storage.Replica = (*Replica)(nil)

// Open opens or creates the replica's file. It sets a damaged file aside as
// PATH.corrupt-TIME and creates an empty file. If another process holds the file, the
// error says so.
func Open(path string, log *slog.Logger) (*Replica, error) {
	file, err := boltfile.Open(path, log, bucketNames()...)
	if err != nil {
		return nil, err
	}
	r := &Replica{file: file, log: log, changed: make(chan struct{})}
	err = file.View(func(tx *bbolt.Tx) error { r.revision = newView(tx).Revision(); return nil })
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Close closes the file.
func (r *Replica) Close() error { return r.file.Close() }

// Revision returns the last applied revision.
func (r *Replica) Revision() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revision
}

// WaitFor returns when the replica follows the log and has applied the revision. If ctx
// ends first, WaitFor returns storage.ErrUnavailable joined with the context's error.
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
			return fmt.Errorf("%w: the replica is at revision %d, waiting for %d: %w",
				storage.ErrUnavailable, r.Revision(), revision, ctx.Err())
		}
	}
}

func (r *Replica) advance(revision uint64) {
	r.step(func() { r.revision = revision })
}

// step makes a change and wakes all waiting calls.
func (r *Replica) step(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// ErrLogBehind says that the log holds less than the replica has applied. The log lost
// writes or was restored from an old copy.
var ErrLogBehind = errors.New("the log of record is behind this replica")

// ErrLogReplaced says that the log was replaced by another log. The revisions of the new
// log start again. A cache by revision would confuse the two logs, so the process must
// restart.
var ErrLogReplaced = errors.New("the log of record was replaced")

// Follow applies the log to the replica until ctx ends. It rebuilds a file that belongs
// to another log. It returns ErrLogReplaced if an earlier Follow had another log. It
// returns ErrLogBehind if the log has lost records that the replica has.
func (r *Replica) Follow(ctx context.Context, log storage.Log) error {
	state, err := log.State(ctx)
	if err != nil {
		return err
	}
	if r.following && state.Identity != r.identity {
		return fmt.Errorf("%w: the new log was created at %s, the previous log at %s: restart this process, and it rebuilds %s",
			ErrLogReplaced, state.Identity, r.identity, r.file.Path())
	}
	wiped, err := r.file.Adopt(state.Identity + form)
	if err != nil {
		return err
	}
	if wiped {
		r.log.Warn("replica belongs to another log of record, rebuilding the replica")
		r.advance(0)
	}
	if revision := r.Revision(); state.Last < revision {
		return fmt.Errorf("%w: the log ends at revision %d and the replica is at %d: restore the log, or delete %s to continue with the log's content",
			ErrLogBehind, state.Last, revision, r.file.Path())
	}
	if err := r.wipeUnlessWhole(state); err != nil {
		return err
	}
	r.step(func() { r.following, r.identity = true, state.Identity })
	ctx, cancel := context.WithCancel(ctx)
	var skipping sync.WaitGroup
	skipping.Go(func() { r.skipExpired(ctx, log, state.Last) })
	defer skipping.Wait()
	defer cancel()
	return log.Tail(ctx, r.Revision(), r.apply)
}

// skipEvery is the interval of skipExpired.
const skipEvery = 100 * time.Millisecond

// skipExpired advances the replica to a revision whose record the log may have removed, or
// removes before the replica gets it. It ends when the replica has reached the revision.
func (r *Replica) skipExpired(ctx context.Context, log storage.Log, last uint64) {
	tick := time.NewTicker(skipEvery)
	defer tick.Stop()
	for ctx.Err() == nil && r.Revision() < last {
		newest, err := log.Newest(ctx)
		if err == nil {
			err = r.skipTo(newest, last)
		}
		if err != nil && ctx.Err() == nil {
			r.log.Debug("newest record unknown, retrying", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// wipeUnlessWhole empties a replica that is too far behind: the log may have removed
// tombstones that the replica has not seen.
func (r *Replica) wipeUnlessWhole(log storage.LogState) error {
	var at time.Time
	err := r.file.View(func(tx *bbolt.Tx) error {
		if b := newView(tx).value(metaBucket, atKey); len(b) == 8 {
			at = time.UnixMilli(int64(binary.BigEndian.Uint64(b))) //nolint:gosec // written by apply
		}
		return nil
	})
	if revision := r.Revision(); err != nil || revision == 0 || revision >= log.Last || at.After(log.WholeSince) {
		return err
	}
	r.log.Warn("replica too far behind the log of record, rebuilding the replica", "at", at)
	if err := r.file.Wipe(); err != nil {
		return err
	}
	r.advance(0)
	return nil
}
