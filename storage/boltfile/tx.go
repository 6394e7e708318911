package boltfile

import (
	"bytes"

	"go.etcd.io/bbolt"
)

// ownBucket holds the identity of the stream that the file is a view of.
var (
	ownBucket   = []byte("file")
	identityKey = []byte("identity")
)

// Tx is a read-write transaction. Values that it returns are valid until the transaction
// ends and must not be changed.
type Tx struct{ tx *bbolt.Tx }

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
	return t.createBuckets(names)
}

// Has reports whether the file has a bucket.
func (t *Tx) Has(bucket string) bool { return t.tx.Bucket([]byte(bucket)) != nil }

// Get returns the value of a key, nil if there is none.
func (t *Tx) Get(bucket string, key []byte) []byte { return t.tx.Bucket([]byte(bucket)).Get(key) }

// Reading returns the underlying transaction, for reads that Tx has no method for.
func (t *Tx) Reading() *bbolt.Tx { return t.tx }

// Put stores a value.
func (t *Tx) Put(bucket string, key, value []byte) error {
	return t.tx.Bucket([]byte(bucket)).Put(key, value)
}

// Delete removes a key, if present.
func (t *Tx) Delete(bucket string, key []byte) error {
	return t.tx.Bucket([]byte(bucket)).Delete(key)
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
