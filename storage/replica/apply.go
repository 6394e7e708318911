package replica

import (
	"errors"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// apply stores a batch of the log's records, in order and atomically.
func (r *Replica) apply(records []storage.Record) error {
	if len(records) == 0 {
		return nil
	}
	if err := r.reportErasures(records); err != nil {
		return err
	}
	last := records[len(records)-1].Revision
	// gofail: var bugCursorFirst struct{}
	// _ = r.file.Update(func(tx *bbolt.Tx) error {
	// 	return boltfile.PutNumber(tx, metaBucket, revisionKey, last)
	// })

	// gofail: var applyBefore struct{}
	err := r.file.Update(func(tx *bbolt.Tx) error {
		for _, rec := range records {
			if err := applyOne(tx, rec); err != nil {
				return err
			}
		}
		at := records[len(records)-1].At
		if err := forget(tx, at); err != nil {
			return err
		}
		return errors.Join(tx.Bucket([]byte(metaBucket)).Put(atKey, milliseconds(at)), boltfile.PutNumber(tx, metaBucket, revisionKey, last))
	})
	// gofail: var applyAfter struct{}
	if err != nil {
		return err
	}
	r.advance(last)
	return nil
}

// skipTo advances the replica to the revision last if it has the log's newest record.
func (r *Replica) skipTo(newest, last uint64) error {
	if revision := r.Revision(); revision < newest || revision >= last {
		return nil
	}
	skips := false
	err := r.file.Update(func(tx *bbolt.Tx) error {
		if revision := newView(tx).Revision(); revision < newest || revision >= last {
			return nil
		}
		skips = true
		return boltfile.PutNumber(tx, metaBucket, revisionKey, last)
	})
	if err == nil && skips {
		r.step(func() { r.revision = max(r.revision, last) }) // apply may have advanced it further
	}
	return err
}

func applyOne(tx *bbolt.Tx, rec storage.Record) error {
	bucket := tx.Bucket([]byte(kindBucket(rec.Kind)))
	if bucket == nil {
		// A newer version writes this kind. This version does not show it.
		return nil
	}
	bucket.FillPercent = boltfile.FillPercent
	if rec.Kind == storage.KindErasure {
		if err := erase(tx, rec); err != nil {
			return err
		}
	} else if erased, err := isErased(tx, rec); erased || err != nil {
		return err
	}
	if rec.First == 0 {
		rec.First = rec.Revision
	}
	key := entityKey(rec.Org, rec.ID)
	before, found, err := stored(tx, rec.Ref)
	if err != nil {
		return err
	}
	if !found {
		if err := add(tx, recordsKey, metaBucket, 1); err != nil {
			return err
		}
	}
	if err := replaceExpiry(tx, before, rec); err != nil {
		return err
	}
	if err := bucket.Put(key, encodeRecord(rec)); err != nil {
		return err
	}
	if hasOwner(rec.Kind) {
		if err := tx.Bucket([]byte(ownersBucket)).Put(ownerKey(rec.Kind, rec.ID), []byte(rec.Org)); err != nil {
			return err
		}
	}
	return recount(tx, rec.Ref, before, rec)
}

// recount updates the number of an organization's live records and the size of its
// records. The zero Record stands for none.
func recount(tx *bbolt.Tx, ref storage.Ref, before, after storage.Record) error {
	if change := live(after) - live(before); change != 0 {
		if err := add(tx, countKey(ref.Kind, ref.Org), countsBucket, change); err != nil {
			return err
		}
	}
	if was, is := before.Size(), after.Size(); was != is {
		return add(tx, sizeKey(ref.Org), countsBucket, is-was)
	}
	return nil
}

// live returns 1 for a live record, otherwise 0.
func live(r storage.Record) int64 {
	if r.Revision == 0 || r.Deleted {
		return 0
	}
	return 1
}

// stored returns the record of an entity. found is false if there is none.
func stored(tx *bbolt.Tx, ref storage.Ref) (rec storage.Record, found bool, err error) {
	value := tx.Bucket([]byte(kindBucket(ref.Kind))).Get(entityKey(ref.Org, ref.ID))
	if value == nil {
		return rec, false, nil
	}
	rec, err = decodeRecord(ref, value)
	return rec, true, err
}

// add adds delta to the number stored under key.
func add(tx *bbolt.Tx, key []byte, bucket string, delta int64) error {
	return boltfile.PutNumber(tx, bucket, key, boltfile.Number(tx, bucket, key)+uint64(delta)) //nolint:gosec // never negative
}
