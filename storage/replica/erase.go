package replica

import (
	"bytes"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// isErased reports whether a record belongs to a deleted organization. A process that was
// behind may have written it after the deletion.
func isErased(tx *bbolt.Tx, rec storage.Record) (bool, error) {
	if k, _ := tx.Bucket([]byte(kindBucket(storage.KindErasure))).Cursor().First(); k == nil {
		return false, nil
	}
	mark, err := stored(tx, storage.ErasureRef(rec.Organization()))
	return mark.Hides(rec.At), err
}

// erase removes every record of the organization with the mark. The next opening of the
// file overwrites them.
func erase(tx *bbolt.Tx, mark storage.Record) error {
	for _, kind := range storage.Kinds() {
		keys := marked(tx.Bucket([]byte(kindBucket(kind))), kind, mark.ID)
		for _, key := range keys {
			ref := refOf(kind, key)
			if err := remove(tx, ref); err != nil {
				return err
			}
			if ref.Org != storage.Shared { // they are 0 now, and their keys name the organization
				counts := tx.Bucket([]byte(countsBucket))
				if err := errors.Join(counts.Delete(countKey(kind, ref.Org)), counts.Delete(deletedKey(kind, ref.Org)), counts.Delete(sizeKey(ref.Org))); err != nil {
					return err
				}
			}
		}
	}
	return boltfile.CompactAtOpen(tx)
}

// OnErasure has the replica call fn before it applies the mark of a complete deletion, also
// when it is rebuilt from a log with the mark. by is when everything of the organization has
// passed its retention. After an error of fn, Follow returns the error. OnErasure must
// precede Follow.
func (r *Replica) OnErasure(fn func(by time.Time) error) { r.onErasure = fn }

// reportErasures calls the function of OnErasure for the marks among the records.
func (r *Replica) reportErasures(records []storage.Record) (err error) {
	for _, rec := range records {
		if r.onErasure != nil && rec.Kind == storage.KindErasure && !rec.Expires.IsZero() {
			err = errors.Join(err, r.onErasure(rec.Expires))
		}
	}
	return err
}

// marked returns the keys of a kind that belong to the organization with the mark.
func marked(bucket *bbolt.Bucket, kind storage.Kind, mark string) (keys [][]byte) {
	c := bucket.Cursor()
	for k, _ := c.First(); k != nil; {
		ref := refOf(kind, k)
		switch org := ref.Organization(); {
		case org != storage.Shared && storage.ErasureRef(org).ID == mark:
			keys = append(keys, bytes.Clone(k))
		case org == ref.Org: // skip the organization's other records
			k, _ = c.Seek(append(entityKey(org, ""), 0xff))
			continue
		}
		k, _ = c.Next()
	}
	return keys
}

// remove removes a record with its expiry, owner and counts.
func remove(tx *bbolt.Tx, ref storage.Ref) error {
	rec, err := stored(tx, ref)
	if err != nil {
		return err
	}
	if err := index(tx, ref, rec, storage.Record{}); err != nil {
		return err
	}
	return tx.Bucket([]byte(kindBucket(ref.Kind))).Delete(entityKey(ref.Org, ref.ID))
}

func refOf(kind storage.Kind, key []byte) storage.Ref {
	org, id, _ := bytes.Cut(key, []byte{0})
	return storage.Ref{Kind: kind, Org: string(org), ID: string(id)}
}
