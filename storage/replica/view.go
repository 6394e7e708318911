package replica

import (
	"bytes"
	"encoding/binary"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// View runs fn on a consistent reading of the replica.
func (r *Replica) View(fn func(storage.View) error) error {
	return r.file.Read(func(reading *boltfile.Reading) error { return fn(view{reading}) })
}

// view is a storage.View on a reading of the replica's file.
type view struct{ *boltfile.Reading }

func (v view) Revision() uint64 {
	if b := v.Reading.Get(metaBucket, revisionKey); len(b) == 8 {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (v view) Get(ref storage.Ref) (storage.Record, error) {
	stored := v.Reading.Get(kindBucket(ref.Kind), entityKey(ref.Org, ref.ID))
	if stored == nil {
		return storage.Record{}, storage.ErrNotFound
	}
	return decodeRecord(ref, stored)
}

func (v view) Scan(kind storage.Kind, org, after string, fn func(storage.Record) bool) error {
	bucket := v.Bucket(kindBucket(kind))
	if bucket == nil {
		return nil
	}
	prefix := entityKey(org, "")
	start := entityKey(org, after)
	c := bucket.Cursor()
	k, stored := c.Seek(start)
	if after != "" && bytes.Equal(k, start) {
		k, stored = c.Next()
	}
	for ; bytes.HasPrefix(k, prefix); k, stored = c.Next() {
		rec, err := decodeRecord(storage.Ref{Kind: kind, Org: org, ID: string(k[len(prefix):])}, stored)
		if err != nil {
			return err
		}
		if !fn(rec) {
			return nil
		}
	}
	return nil
}

func (v view) Count(kind storage.Kind, org string) int {
	if b := v.Reading.Get(countsBucket, countKey(kind, org)); len(b) == 8 {
		return int(binary.BigEndian.Uint64(b)) //nolint:gosec // a count of entities
	}
	return 0
}

func (v view) Owner(kind storage.Kind, id string) (string, error) {
	org := v.Reading.Get(ownersBucket, ownerKey(kind, id))
	if org == nil {
		return "", storage.ErrNotFound
	}
	return string(org), nil
}
