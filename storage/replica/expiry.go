package replica

import (
	"encoding/binary"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

func milliseconds(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())) //nolint:gosec // after 1970
}

func expiryKey(r storage.Record) []byte {
	return append(milliseconds(r.Expires), strings.Join([]string{string(r.Kind), r.Org, r.ID}, "\x00")...)
}

// replaceExpiry replaces the expiry entry of the previous record by the entry of the new
// record.
func replaceExpiry(tx *bbolt.Tx, before, after storage.Record) error {
	if !before.Expires.IsZero() {
		if err := tx.Bucket([]byte(expiringBucket)).Delete(expiryKey(before)); err != nil {
			return err
		}
	}
	if after.Expires.IsZero() {
		return nil
	}
	return tx.Bucket([]byte(expiringBucket)).Put(expiryKey(after), milliseconds(after.At))
}

// late is how long after its expiry a busy server may remove a record.
const late = 10 * time.Second

// expiry decodes an entry of the bucket. It returns the time at which the log removes the
// record. It also returns the tolerated difference between the clocks of writers and of
// the log.
func expiry(k, v []byte) (expires time.Time, skew time.Duration) {
	expires = time.UnixMilli(int64(binary.BigEndian.Uint64(k)))  //nolint:gosec // the reverse of milliseconds
	written := time.UnixMilli(int64(binary.BigEndian.Uint64(v))) //nolint:gosec // the reverse of milliseconds
	const part = 24
	return expires, max(late, expires.Sub(written)/part)
}

// forget removes expired tombstones that the log has removed by now. The replica keeps
// tombstones a little longer than the log. Otherwise a tombstone that only the log has
// would make a new creation of the entity fail.
func forget(tx *bbolt.Tx, now time.Time) error {
	c := tx.Bucket([]byte(expiringBucket)).Cursor()
	for k, v := c.First(); k != nil; k, v = c.First() {
		if expires, skew := expiry(k, v); !expires.Add(skew).Before(now) {
			return nil
		}
		parts := strings.SplitN(string(k[8:]), "\x00", 3)
		if err := remove(tx, storage.Ref{Kind: storage.Kind(parts[0]), Org: parts[1], ID: parts[2]}); err != nil {
			return err
		}
	}
	return nil
}

// Records returns the last applied revision, and the minimum number of messages in the
// log at that revision and time. It does not count tombstones that the log may have
// removed.
func (r *Replica) Records(now time.Time) (revision, records uint64, err error) {
	err = r.file.View(func(tx *bbolt.Tx) error {
		revision = boltfile.Number(tx, metaBucket, revisionKey)
		records = boltfile.Number(tx, metaBucket, recordsKey)
		c := tx.Bucket([]byte(expiringBucket)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if expires, skew := expiry(k, v); !expires.Add(-skew).Before(now) {
				break
			}
			records--
		}
		return nil
	})
	return revision, records, err
}
