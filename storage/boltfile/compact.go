package boltfile

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// compactTx is the maximum size of a transaction of the compaction, in bytes.
const compactTx = 16 << 20

// CompactAtOpen makes the next Open of the file copy the remaining content into a new file.
// bbolt does not overwrite deleted values.
func CompactAtOpen(tx *bbolt.Tx) error {
	own, err := tx.CreateBucketIfNotExists(ownBucket)
	if err != nil {
		return err
	}
	return own.Put(compactKey, []byte{1})
}

// compactIfMarked replaces a marked file by a copy of its content. It also removes the
// damaged files that were renamed. An interrupted compaction starts again. If the copy fails,
// for example because the disk has no space for it, the file stays in use and marked.
func compactIfMarked(db *bbolt.DB, log *slog.Logger) (*bbolt.DB, error) {
	marked := false
	err := db.View(func(tx *bbolt.Tx) error {
		own := tx.Bucket(ownBucket)
		marked = own != nil && own.Get(compactKey) != nil
		return nil
	})
	if err != nil || !marked {
		return db, err
	}
	path, fresh := db.Path(), db.Path()+".compacting"
	if err := errors.Join(removeDamaged(path), compact(db, fresh)); err != nil {
		log.Error("bbolt file not compacted, deleted bytes remain until the next start", "file", path, "error", err)
		_ = os.Remove(fresh) // the next compaction removes it, too
		return db, nil
	}
	if err := errors.Join(db.Close(), os.Rename(fresh, path)); err != nil {
		return nil, err
	}
	return openDB(path)
}

// compact copies the content of a file without its mark into a new, synced file.
func compact(db *bbolt.DB, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh, err := openDB(path)
	if err != nil {
		return err
	}
	err = bbolt.Compact(fresh, db, compactTx)
	if err == nil {
		err = fresh.Update(func(tx *bbolt.Tx) error { return tx.Bucket(ownBucket).Delete(compactKey) })
	}
	return errors.Join(err, fresh.Sync(), fresh.Close())
}

// removeDamaged removes the damaged files that were renamed.
func removeDamaged(path string) error {
	damaged, err := filepath.Glob(path + ".corrupt-*")
	for _, path := range damaged {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
