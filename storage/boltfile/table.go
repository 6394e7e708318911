package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"go.etcd.io/bbolt"
)

// Table is the name of a bucket whose values are the JSON of T.
type Table[T any] string

// Get returns the value of a key. found is false if there is none.
func (t Table[T]) Get(tx *bbolt.Tx, key []byte) (v T, found bool, err error) {
	value := tx.Bucket([]byte(t)).Get(key)
	if value == nil {
		return v, false, nil
	}
	v, err = t.Decode(value)
	return v, true, err
}

// Decode decodes a value that a cursor has read. Errors: ErrDamaged.
func (t Table[T]) Decode(value []byte) (v T, err error) {
	if err := jsonv1.Unmarshal(value, &v); err != nil {
		return v, fmt.Errorf("%w: a value of the bucket %s: %w", ErrDamaged, t, err)
	}
	return v, nil
}

// Put stores a value.
func (t Table[T]) Put(tx *bbolt.Tx, key []byte, v T) error {
	value, err := jsonv1.Marshal(v)
	if err != nil {
		return err
	}
	return tx.Bucket([]byte(t)).Put(key, value)
}

// Delete removes a key, if present.
func (t Table[T]) Delete(tx *bbolt.Tx, key []byte) error { return tx.Bucket([]byte(t)).Delete(key) }

// Each calls do for the values whose keys begin with a prefix, in the order of the keys.
// It returns the first error of do. do must not change the table.
func (t Table[T]) Each(tx *bbolt.Tx, prefix []byte, do func(key []byte, v T) error) error {
	c := tx.Bucket([]byte(t)).Cursor()
	for k, value := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, value = c.Next() {
		v, err := t.Decode(value)
		if err == nil {
			err = do(k, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Number returns the number that PutNumber stored under a key, 0 if there is none.
func Number(tx *bbolt.Tx, bucket string, key []byte) uint64 {
	return DecodeNumber(tx.Bucket([]byte(bucket)).Get(key))
}

// DecodeNumber returns the number in a value, 0 if there is none.
func DecodeNumber(value []byte) uint64 {
	if len(value) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(value)
}

// PutNumber stores a number, in 8 bytes.
func PutNumber(tx *bbolt.Tx, bucket string, key []byte, n uint64) error {
	return tx.Bucket([]byte(bucket)).Put(key, binary.BigEndian.AppendUint64(nil, n))
}

// Set is the name of a bucket that has only keys.
type Set string

// Has reports whether the set has a key.
func (s Set) Has(tx *bbolt.Tx, key []byte) bool { return tx.Bucket([]byte(s)).Get(key) != nil }

// Put adds a key to the set, or removes it. It writes nothing if the set is right already.
func (s Set) Put(tx *bbolt.Tx, key []byte, in bool) error {
	switch {
	case s.Has(tx, key) == in:
		return nil
	case in:
		return tx.Bucket([]byte(s)).Put(key, []byte{1})
	}
	return tx.Bucket([]byte(s)).Delete(key)
}

// Keys iterates over the keys in order. The loop must not change the set.
func (s Set) Keys(tx *bbolt.Tx) iter.Seq[[]byte] { return s.KeysAfter(tx, nil) }

// KeysAfter iterates over the keys after a key, in order. The loop must not change the
// set.
func (s Set) KeysAfter(tx *bbolt.Tx, after []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := tx.Bucket([]byte(s)).Cursor()
		k, _ := c.Seek(after)
		if k != nil && bytes.Equal(k, after) {
			k, _ = c.Next()
		}
		for ; k != nil && yield(k); k, _ = c.Next() {
		}
	}
}

// DeletePrefix removes every key of a bucket that begins with a prefix.
func DeletePrefix(tx *bbolt.Tx, bucket string, prefix []byte) error {
	b := tx.Bucket([]byte(bucket))
	c := b.Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Seek(prefix) {
		if err := b.Delete(bytes.Clone(k)); err != nil {
			return err
		}
	}
	return nil
}
