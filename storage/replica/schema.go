package replica

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// One bucket a kind holds organization\x00identifier -> stored record, so that a
// scan of an organization is a scan of neighbours. Counts holds how many live
// entities there are by kind and organization, owners the organization of those
// whose identifiers are unique across organizations.
const (
	metaBucket   = "meta"
	countsBucket = "counts"
	ownersBucket = "owners"
)

var revisionKey = []byte("revision")

func kindBucket(k storage.Kind) string { return "kind:" + string(k) }

func bucketNames() []string {
	names := []string{metaBucket, countsBucket, ownersBucket}
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

func ownerKey(k storage.Kind, id string) []byte { return entityKey(string(k), id) }

// hasOwner says for which kinds the owners bucket is kept.
func hasOwner(k storage.Kind) bool { return k == storage.KindKey }

// A stored record is revision, first and time (8 bytes each), flags (1), the
// CRC-32C of all that and the value (4), and the value. The file's seal shows
// damage at the next opening, the checksum what happens while it is open.
const (
	headerSize  = 8 + 8 + 8 + 1
	prefixSize  = headerSize + 4
	flagDeleted = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeRecord(r storage.Record) []byte {
	b := make([]byte, prefixSize+len(r.Value))
	binary.BigEndian.PutUint64(b[0:], r.Revision)
	binary.BigEndian.PutUint64(b[8:], r.First)
	binary.BigEndian.PutUint64(b[16:], uint64(r.At.UnixMilli()))
	if r.Deleted {
		b[24] = flagDeleted
	}
	copy(b[prefixSize:], r.Value)
	binary.BigEndian.PutUint32(b[headerSize:], checksum(b))
	return b
}

// decodeRecord reads a stored record. Its value points into b.
func decodeRecord(ref storage.Ref, b []byte) (storage.Record, error) {
	if len(b) < prefixSize || binary.BigEndian.Uint32(b[headerSize:]) != checksum(b) {
		return storage.Record{}, fmt.Errorf("%w: %s", boltfile.ErrDamaged, ref)
	}
	return storage.Record{
		Ref:      ref,
		Revision: binary.BigEndian.Uint64(b[0:]),
		First:    binary.BigEndian.Uint64(b[8:]),
		At:       time.UnixMilli(int64(binary.BigEndian.Uint64(b[16:]))).UTC(), //nolint:gosec // the reverse of encodeRecord
		Deleted:  b[24]&flagDeleted != 0,
		Value:    b[prefixSize:],
	}, nil
}

func checksum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:headerSize], castagnoli), castagnoli, b[prefixSize:])
}
