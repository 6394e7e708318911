package replica

import (
	"bytes"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// View runs fn on a consistent snapshot of the replica.
func (r *Replica) View(fn func(storage.View) error) error {
	return r.file.View(func(tx *bbolt.Tx) error { return fn(newView(tx)) })
}

// view is a storage.View on a transaction of the replica's file.
type view struct {
	tx *bbolt.Tx
	// cursors caches a cursor per bucket for lookups. Otherwise bbolt allocates a cursor
	// for each lookup, and a walk makes many.
	cursors map[string]*bbolt.Cursor
}

func newView(tx *bbolt.Tx) view { return view{tx, map[string]*bbolt.Cursor{}} }

// value returns the value of a key, nil if there is none.
func (v view) value(bucket string, key []byte) []byte {
	c := v.cursors[bucket]
	if c == nil {
		b := v.tx.Bucket([]byte(bucket))
		if b == nil {
			return nil
		}
		c = b.Cursor()
		v.cursors[bucket] = c
	}
	if found, value := c.Seek(key); bytes.Equal(found, key) {
		return value
	}
	return nil
}

func (v view) Revision() uint64 { return boltfile.DecodeNumber(v.value(metaBucket, revisionKey)) }

func (v view) Get(ref storage.Ref) (storage.Record, error) {
	stored := v.value(kindBucket(ref.Kind), entityKey(ref.Org, ref.ID))
	if stored == nil {
		return storage.Record{}, storage.ErrNotFound
	}
	return decodeRecord(ref, stored)
}

func (v view) Scan(kind storage.Kind, org, after string, fn func(storage.Record) bool) error {
	bucket := v.tx.Bucket([]byte(kindBucket(kind)))
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

func (v view) Devices(org, homeID, after string, fn func(storage.Record) bool) error {
	prefix := deviceKey(org, homeID, "")
	for k := range devicesBucket.KeysAfter(v.tx, deviceKey(org, homeID, after)) {
		if !bytes.HasPrefix(k, prefix) {
			return nil
		}
		rec, err := v.Get(storage.KindHVACDevice.Ref(org, string(k[len(prefix):])))
		if err != nil {
			return err
		}
		if !fn(rec) {
			return nil
		}
	}
	return nil
}

func (v view) Count(kind storage.Kind, org string) int { return int(v.number(countKey(kind, org))) }

func (v view) Deleted(kind storage.Kind, org string) int {
	return int(v.number(deletedKey(kind, org)))
}

func (v view) Size(org string) int64 { return v.number(sizeKey(org)) }

// number returns a number of the counts bucket.
func (v view) number(key []byte) int64 {
	return int64(boltfile.DecodeNumber(v.value(countsBucket, key))) //nolint:gosec // add wrote it
}

func (v view) Owner(kind storage.Kind, id string) (string, error) {
	org := v.value(ownersBucket, ownerKey(kind, id))
	if org == nil {
		return "", storage.ErrNotFound
	}
	return string(org), nil
}
