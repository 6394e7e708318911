package boltfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// lockWait is the timeout for a file lock that another process holds. lockPoll is the
// interval between attempts.
const (
	lockWait = time.Second
	lockPoll = 20 * time.Millisecond
)

// ownBucket holds the identity of the stream that the file is a view of.
var (
	ownBucket   = []byte("file")
	identityKey = []byte("identity")
	// compactKey marks a file that the next Open rewrites.
	compactKey = []byte("compact")
)

// FillPercent is bbolt's FillPercent for large buckets. Most of their keys arrive in order,
// and bbolt's default would leave each page half empty. A file of homes is 45 % smaller.
const FillPercent = 0.9

// ErrDamaged says that a file or one of its records is corrupt.
var ErrDamaged = errors.New("damaged")

// File is the open bbolt file of one materialized view.
type File struct {
	db      *bbolt.DB
	path    string
	log     *slog.Logger
	buckets []string

	mu         sync.Mutex // held from a transaction's begin to its seal
	distrusted bool       // the file is no longer sealed
}

// Open opens or creates a view's file with its buckets. It renames a file without a valid
// seal to PATH.corrupt-TIME and creates an empty file. If another process holds the file,
// the error says so.
func Open(path string, log *slog.Logger, buckets ...string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := renameUnlessSealed(path, log); err != nil {
		return nil, openError(path, err)
	}
	db, err := openDB(path)
	if err == nil {
		db, err = compactIfMarked(db, log)
	}
	if err != nil {
		return nil, openError(path, err)
	}
	if err := begin(path); err != nil {
		return nil, errors.Join(openError(path, err), db.Close())
	}
	f := &File{db: db, path: path, log: log, buckets: buckets}
	if err := f.Update(func(tx *bbolt.Tx) error { return createBuckets(tx, buckets) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// openDB opens a database that stores the list of its free pages. Otherwise each opening
// would read the whole file to find them: a minute for ten million homes. A killed process
// leaves the list of its last complete transaction.
func openDB(path string) (*bbolt.DB, error) {
	return bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockWait, NoSync: true, NoGrowSync: true, FreelistType: bbolt.FreelistMapType,
	})
}

// Path returns the file's path.
func (f *File) Path() string { return f.path }

// View runs fn in a read-only transaction. If fn returns ErrDamaged, the next Open
// rebuilds the file.
func (f *File) View(fn func(*bbolt.Tx) error) error {
	err := f.db.View(fn)
	if errors.Is(err, ErrDamaged) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.distrust(err)
	}
	return err
}

// Update runs fn in a read-write transaction, which is committed completely or not at
// all. If fn returns ErrDamaged, the next Open rebuilds the file.
func (f *File) Update(fn func(*bbolt.Tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if is, err := sealed(f.path, bootID()); !is && !errors.Is(err, fs.ErrNotExist) {
		f.distrust(errors.Join(errors.New("another program changed the file"), err))
	}
	err := f.db.Update(fn)
	if errors.Is(err, ErrDamaged) {
		f.distrust(err)
	}
	f.seal(bootID())
	return err
}

// seal seals the file with a state, unless the file is distrusted.
func (f *File) seal(state string) {
	if f.distrusted {
		return
	}
	if err := seal(f.path, state); err != nil {
		f.distrust(err)
	}
}

// distrust breaks the file's seal permanently, so that the next Open rebuilds the file.
func (f *File) distrust(why error) {
	if f.distrusted {
		return
	}
	f.distrusted = true
	broken := os.Chtimes(f.path, time.Time{}, time.Now())
	f.log.Error("bbolt file not trusted, rebuilding it from the log at the next start", "file", f.path, "error", errors.Join(why, broken))
}

// Adopt ties the file to a stream by the stream's identity. It wipes data of another
// stream and then reports wiped.
func (f *File) Adopt(identity string) (wiped bool, err error) {
	err = f.Update(func(tx *bbolt.Tx) error {
		own, err := tx.CreateBucketIfNotExists(ownBucket)
		if err != nil {
			return err
		}
		have := string(own.Get(identityKey))
		if wiped = have != "" && have != identity; wiped {
			if err := f.wipe(tx); err != nil {
				return err
			}
		}
		return own.Put(identityKey, []byte(identity))
	})
	return wiped && err == nil, err
}

// Wipe deletes the file's data. The file stays tied to its stream.
func (f *File) Wipe() error { return f.Update(f.wipe) }

func createBuckets(tx *bbolt.Tx, names []string) error {
	for _, name := range names {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}

// wipe deletes every bucket except the file's identity, and creates the view's buckets.
func (f *File) wipe(tx *bbolt.Tx) error {
	var names [][]byte
	err := tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !bytes.Equal(name, ownBucket) {
			names = append(names, bytes.Clone(name))
		}
		return nil
	})
	for _, name := range names {
		err = errors.Join(err, tx.DeleteBucket(name))
	}
	return errors.Join(err, createBuckets(tx, f.buckets))
}

// Close syncs and closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.db.Sync()
	if is, _ := sealed(f.path, bootID()); is && err == nil {
		f.seal(clean)
	}
	return errors.Join(err, f.db.Close())
}

func openError(path string, err error) error {
	if errors.Is(err, berrors.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s is held by another process: stop it, or use another --data folder", path)
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// renameUnlessSealed renames a file without a valid seal. It removes older renamed
// files, because each may fill much of a disk.
func renameUnlessSealed(path string, log *slog.Logger) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // bbolt takes the same lock
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for _, state := range []string{clean, bootID()} {
		is, err := sealed(path, state)
		if is {
			err = seal(path, state) // only the owner of a file can seal it
		}
		if !errors.Is(err, fs.ErrPermission) && (is || err != nil) {
			return err
		}
	}
	if err := removeDamaged(path); err != nil {
		return err
	}
	renamed := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(path, renamed); err != nil {
		return fmt.Errorf("rename the damaged file: %w", err)
	}
	log.Warn("bbolt file changed since it was last used, or belongs to another user, rebuilding it from the log", "file", path, "renamed", renamed)
	return err
}
