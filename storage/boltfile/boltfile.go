package boltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long to wait for another process to let go of the file.
const lockWait = time.Second

// ErrDamaged says that a file or a record in it is not as it was written.
var ErrDamaged = errors.New("damaged")

// File is the open file of one view.
type File struct {
	db       *bbolt.DB
	buckets  []string
	readings readings
}

// Open opens a view's file with its buckets, or makes it. The whole file is
// walked first; where it is not as it was written it is set aside as
// PATH.corrupt-TIME and a new one begun. The error says so when another process
// holds the file.
func Open(path string, log *slog.Logger, buckets ...string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := setAsideIfDamaged(path, log); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockWait, NoSync: true, NoGrowSync: true, FreelistType: bbolt.FreelistMapType,
		NoFreelistSync: true, // so that it is made from the pages at hand, and never an old one
	})
	if err != nil {
		return nil, openError(path, err)
	}
	f := &File{db: db, buckets: buckets}
	if err := f.Update(func(tx *Tx) error { return tx.createBuckets(buckets) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// Path is where the file is.
func (f *File) Path() string { return f.db.Path() }

// Read runs fn on a consistent reading of the file.
func (f *File) Read(fn func(*Reading) error) (err error) {
	r, err := f.readings.take(f.db)
	if err != nil {
		return err
	}
	defer func() {
		if failed := f.readings.leave(r); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	return fn(r)
}

// View runs fn on a consistent reading of the file.
func (f *File) View(fn func(*bbolt.Tx) error) error {
	return f.Read(func(r *Reading) error { return fn(r.tx) })
}

// Update runs fn and keeps what it wrote, all or none.
func (f *File) Update(fn func(*Tx) error) error {
	done, err := f.readings.write()
	defer done()
	if err != nil {
		return err
	}
	return f.db.Update(func(btx *bbolt.Tx) error {
		tx, err := begin(btx)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		return tx.seal()
	})
}

// Adopt ties the file to the stream that it is a view of, by the stream's
// identity. What came from another stream is wiped, and wiped says so.
func (f *File) Adopt(identity string) (wiped bool, err error) {
	err = f.Update(func(tx *Tx) error {
		have := tx.identity()
		if have == identity {
			return nil
		}
		if wiped = have != ""; wiped {
			if err := tx.wipe(f.buckets); err != nil {
				return err
			}
		}
		return tx.setIdentity(identity)
	})
	return wiped && err == nil, err
}

// Close syncs and closes the file.
func (f *File) Close() error {
	_, err := f.readings.write() // the last
	return errors.Join(err, f.db.Sync(), f.db.Close())
}

func openError(path string, err error) error {
	if errors.Is(err, berrors.ErrTimeout) {
		return fmt.Errorf("%s is held by another process: stop it, or use another --data folder", path)
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// setAsideIfDamaged renames a file that is not as it was written. bbolt panics
// on damage, some of it where nobody can recover, so the file is opened
// read-only and walked before it is opened for real.
func setAsideIfDamaged(path string, log *slog.Logger) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := inspect(path)
	if err == nil {
		return nil
	}
	if errors.Is(err, berrors.ErrTimeout) || errors.Is(err, fs.ErrPermission) {
		return openError(path, err)
	}
	aside := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("set the damaged %s aside: %w", path, err)
	}
	log.Error("a view's file was damaged: set aside, and rebuilding it from the log", "file", path, "aside", aside, "damage", err)
	return nil
}
