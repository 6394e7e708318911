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
	err := r.file.Update(func(tx *bbolt.Tx) error {
		if newView(tx).Revision() >= last { // apply was faster
			return nil
		}
		return boltfile.PutNumber(tx, metaBucket, revisionKey, last)
	})
	if err == nil {
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
	before, err := stored(tx, rec.Ref)
	if err != nil {
		return err
	}
	if err := index(tx, rec.Ref, before, rec); err != nil {
		return err
	}
	return bucket.Put(entityKey(rec.Org, rec.ID), encodeRecord(rec))
}

// index updates what the other buckets say of a record that changes: its expiry, its owner,
// the devices of its home and the counts. The zero Record stands for none.
func index(tx *bbolt.Tx, ref storage.Ref, before, after storage.Record) error {
	err := errors.Join(replaceExpiry(tx, before, after), replaceHome(tx, ref, storage.HomeOf(before), storage.HomeOf(after)))
	if hasOwner(ref.Kind) {
		owners, key := tx.Bucket([]byte(ownersBucket)), ownerKey(ref.Kind, ref.ID)
		if after.Revision > 0 {
			err = errors.Join(err, owners.Put(key, []byte(ref.Org)))
		} else {
			err = errors.Join(err, owners.Delete(key))
		}
	}
	return errors.Join(err,
		add(tx, recordsKey, metaBucket, one(after.Revision > 0)-one(before.Revision > 0)),
		add(tx, countKey(ref.Kind, ref.Org), countsBucket, one(live(after))-one(live(before))),
		add(tx, deletedKey(ref.Kind, ref.Org), countsBucket, one(after.Deleted)-one(before.Deleted)),
		add(tx, sizeKey(ref.Org), countsBucket, after.Size()-before.Size()))
}

// replaceHome moves a device from one home to another. An empty string stands for none.
func replaceHome(tx *bbolt.Tx, device storage.Ref, before, after string) (err error) {
	if before == after {
		return nil
	}
	if before != "" {
		err = devicesBucket.Put(tx, deviceKey(device.Org, before, device.ID), false)
	}
	if after != "" {
		err = errors.Join(err, devicesBucket.Put(tx, deviceKey(device.Org, after, device.ID), true))
	}
	return err
}

func live(r storage.Record) bool { return r.Revision > 0 && !r.Deleted }

// one returns 1 for what counts, otherwise 0.
func one(counts bool) int64 {
	if counts {
		return 1
	}
	return 0
}

// stored returns the record of an entity, the zero Record if there is none.
func stored(tx *bbolt.Tx, ref storage.Ref) (storage.Record, error) {
	value := tx.Bucket([]byte(kindBucket(ref.Kind))).Get(entityKey(ref.Org, ref.ID))
	if value == nil {
		return storage.Record{}, nil
	}
	return decodeRecord(ref, value)
}

// add adds delta to the number stored under key.
func add(tx *bbolt.Tx, key []byte, bucket string, delta int64) error {
	if delta == 0 {
		return nil
	}
	return boltfile.PutNumber(tx, bucket, key, boltfile.Number(tx, bucket, key)+uint64(delta)) //nolint:gosec // never negative
}
