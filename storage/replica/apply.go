package replica

import (
	"encoding/binary"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// apply stores a batch of the log's records, in order and all or none.
func (r *Replica) apply(records []storage.Record) error {
	if len(records) == 0 {
		return nil
	}
	last := records[len(records)-1].Revision
	err := r.file.Update(func(tx *boltfile.Tx) error {
		for _, rec := range records {
			if err := applyOne(tx, rec); err != nil {
				return err
			}
		}
		return tx.Put(metaBucket, revisionKey, binary.BigEndian.AppendUint64(nil, last))
	})
	if err != nil {
		return err
	}
	r.advance(last)
	return nil
}

func applyOne(tx *boltfile.Tx, rec storage.Record) error {
	bucket := kindBucket(rec.Kind)
	if !tx.Has(bucket) {
		// A kind that a newer version writes: not ours to show.
		return nil
	}
	if rec.First == 0 {
		rec.First = rec.Revision
	}
	key := entityKey(rec.Org, rec.ID)
	before, err := isLive(rec.Ref, tx.Get(bucket, key))
	if err != nil {
		return err
	}
	if err := tx.Put(bucket, key, encodeRecord(rec)); err != nil {
		return err
	}
	if hasOwner(rec.Kind) {
		if err := tx.Put(ownersBucket, ownerKey(rec.Kind, rec.ID), []byte(rec.Org)); err != nil {
			return err
		}
	}
	switch after := !rec.Deleted; {
	case after && !before:
		return addCount(tx, rec.Ref, 1)
	case before && !after:
		return addCount(tx, rec.Ref, -1)
	}
	return nil
}

func isLive(ref storage.Ref, stored []byte) (bool, error) {
	if stored == nil {
		return false, nil
	}
	rec, err := decodeRecord(ref, stored)
	return !rec.Deleted, err
}

func addCount(tx *boltfile.Tx, ref storage.Ref, delta int64) error {
	key := countKey(ref.Kind, ref.Org)
	var n int64
	if v := tx.Get(countsBucket, key); len(v) == 8 {
		n = int64(binary.BigEndian.Uint64(v)) //nolint:gosec // written below
	}
	return tx.Put(countsBucket, key, binary.BigEndian.AppendUint64(nil, uint64(n+delta))) //nolint:gosec // never negative
}
