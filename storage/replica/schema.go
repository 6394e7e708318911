package replica

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Each kind has a bucket that maps organization\x00identifier to a stored record. The
// entities of an organization are adjacent, so a scan reads neighbors.
//
// The counts bucket has the numbers of live entities and of tombstones by kind and
// organization, and the size of each organization's records. The owners bucket has the organization of each entity
// whose identifier is unique across organizations.
const (
	metaBucket   = "meta"
	countsBucket = "counts"
	ownersBucket = "owners"
	// devicesBucket has the keys organization\x00home\x00device.
	devicesBucket boltfile.Set = "devices"
	// expiringBucket holds the tombstones that the log will remove, by time of removal.
	expiringBucket = "expiring"
)

// form is the version of the storage format. A file of another version is rebuilt. A new
// kind needs a new version: an older Gridhook has left the kind's records out of its file.
const form = " 9"

// These keys of the meta bucket hold the last revision, the time of its write, and the
// number of records including tombstones.
var (
	revisionKey = []byte("revision")
	atKey       = []byte("at")
	recordsKey  = []byte("records")
)

// kindBuckets are the names of the kinds' buckets. A walk looks up one for each home.
var kindBuckets = func() map[storage.Kind]string {
	names := map[storage.Kind]string{}
	for _, k := range storage.Kinds() {
		names[k] = "kind:" + string(k)
	}
	return names
}()

func kindBucket(k storage.Kind) string { return kindBuckets[k] }

func bucketNames() []string {
	names := []string{metaBucket, countsBucket, ownersBucket, string(devicesBucket), expiringBucket}
	for _, k := range storage.Kinds() {
		names = append(names, kindBucket(k))
	}
	return names
}

func entityKey(org, id string) []byte {
	key := make([]byte, 0, len(org)+1+len(id))
	key = append(key, org...)
	key = append(key, 0)
	return append(key, id...)
}

func countKey(k storage.Kind, org string) []byte { return entityKey(string(k), org) }

func deletedKey(k storage.Kind, org string) []byte { return entityKey("deleted:"+string(k), org) }

// sizeKey is the key of the size of an organization's live records.
func sizeKey(org string) []byte { return entityKey("", org) }

func ownerKey(k storage.Kind, id string) []byte { return entityKey(string(k), id) }

func deviceKey(org, homeID, id string) []byte { return entityKey(org+"\x00"+homeID, id) }

// hasOwner reports whether the owners bucket covers a kind.
func hasOwner(k storage.Kind) bool { return k == storage.KindKey }

// A stored record is revision, first, time and expiry (8 bytes each), flags (1), a
// CRC-32C (4) and the value. The checksum covers everything else. The file's seal shows
// damage at the next opening. The checksum shows damage while the file is open.
const (
	headerSize  = 8 + 8 + 8 + 8 + 1
	prefixSize  = headerSize + 4
	flagDeleted = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeRecord(r storage.Record) []byte {
	b := make([]byte, prefixSize+len(r.Value))
	binary.BigEndian.PutUint64(b[0:], r.Revision)
	binary.BigEndian.PutUint64(b[8:], r.First)
	binary.BigEndian.PutUint64(b[16:], uint64(r.At.UnixMilli()))
	if !r.Expires.IsZero() {
		binary.BigEndian.PutUint64(b[24:], uint64(r.Expires.UnixMilli())) //nolint:gosec // after 1970
	}
	if r.Deleted {
		b[32] = flagDeleted
	}
	copy(b[prefixSize:], r.Value)
	binary.BigEndian.PutUint32(b[headerSize:], checksum(b))
	return b
}

// decodeRecord decodes a stored record. The record's Value points into b.
func decodeRecord(ref storage.Ref, b []byte) (storage.Record, error) {
	if len(b) < prefixSize || binary.BigEndian.Uint32(b[headerSize:]) != checksum(b) {
		return storage.Record{}, fmt.Errorf("%w: %s", boltfile.ErrDamaged, ref)
	}
	r := storage.Record{
		Ref:      ref,
		Revision: binary.BigEndian.Uint64(b[0:]),
		First:    binary.BigEndian.Uint64(b[8:]),
		At:       time.UnixMilli(int64(binary.BigEndian.Uint64(b[16:]))).UTC(), //nolint:gosec // the reverse of encodeRecord
		Deleted:  b[32]&flagDeleted != 0,
		Value:    b[prefixSize:],
	}
	if expires := binary.BigEndian.Uint64(b[24:]); expires != 0 {
		r.Expires = time.UnixMilli(int64(expires)).UTC() //nolint:gosec // the reverse of encodeRecord
	}
	return r, nil
}

func checksum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:headerSize], castagnoli), castagnoli, b[prefixSize:])
}
