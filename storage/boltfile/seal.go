package boltfile

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/bbolt"
)

// The file's own bucket holds its seal: the sum of a hash of every key and value
// of the other buckets, brought up to date by each transaction. A file that is
// not fsynced can come back from a power cut as a mixture of old and new pages,
// each of them sound; then, as after a flipped bit or a lost page, the sum of
// what is there is not the one that was sealed.
var (
	ownBucket   = []byte("file")
	sumKey      = []byte("sum")
	identityKey = []byte("identity")
)

// Tx is a transaction that writes. Values that it returns are valid until it ends
// and must not be changed.
type Tx struct {
	tx  *bbolt.Tx
	own *bbolt.Bucket
	sum uint64
}

func begin(tx *bbolt.Tx) (*Tx, error) {
	own, err := tx.CreateBucketIfNotExists(ownBucket)
	if err != nil {
		return nil, err
	}
	return &Tx{tx: tx, own: own, sum: sealed(own)}, nil
}

// sealed is the sum that a file's own bucket holds, 0 when there is none.
func sealed(own *bbolt.Bucket) uint64 {
	if v := own.Get(sumKey); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (t *Tx) seal() error { return t.own.Put(sumKey, binary.BigEndian.AppendUint64(nil, t.sum)) }

func (t *Tx) identity() string { return string(t.own.Get(identityKey)) }

func (t *Tx) setIdentity(identity string) error { return t.own.Put(identityKey, []byte(identity)) }

func (t *Tx) createBuckets(names []string) error {
	for _, name := range names {
		if _, err := t.tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) wipe(names []string) error {
	for _, name := range names {
		if err := t.tx.DeleteBucket([]byte(name)); err != nil {
			return err
		}
	}
	t.sum = 0
	return t.createBuckets(names)
}

// Has reports whether the file has a bucket.
func (t *Tx) Has(bucket string) bool { return t.tx.Bucket([]byte(bucket)) != nil }

// Get returns the value of a key, nil when there is none.
func (t *Tx) Get(bucket string, key []byte) []byte { return t.tx.Bucket([]byte(bucket)).Get(key) }

// Reading is the transaction to read by, in ways that Tx has no method for.
func (t *Tx) Reading() *bbolt.Tx { return t.tx }

// Put stores a value.
func (t *Tx) Put(bucket string, key, value []byte) error {
	b := t.tx.Bucket([]byte(bucket))
	if old := b.Get(key); old != nil {
		t.sum -= hash(bucket, key, old)
	}
	if err := b.Put(key, value); err != nil {
		return err
	}
	t.sum += hash(bucket, key, value)
	return nil
}

// Delete removes a key, if it is there.
func (t *Tx) Delete(bucket string, key []byte) error {
	b := t.tx.Bucket([]byte(bucket))
	if old := b.Get(key); old != nil {
		t.sum -= hash(bucket, key, old)
	}
	return b.Delete(key)
}

// DeletePrefix removes every key that begins with the prefix.
func (t *Tx) DeletePrefix(bucket string, prefix []byte) error {
	c := t.tx.Bucket([]byte(bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Seek(prefix) {
		if err := t.Delete(bucket, bytes.Clone(k)); err != nil {
			return err
		}
	}
	return nil
}

// hash is of one key and value where they stand. Lengths keep it from taking one
// division of the same bytes for another.
func hash(bucket string, key, value []byte) uint64 {
	var sizes [16]byte
	binary.BigEndian.PutUint64(sizes[:], uint64(len(bucket)))
	binary.BigEndian.PutUint64(sizes[8:], uint64(len(key)))
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(sizes[:])
	_, _ = d.WriteString(bucket)
	_, _ = d.Write(key)
	_, _ = d.Write(value)
	return d.Sum64()
}
