package storage

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// MaxIDLength is the longest identifier accepted, in bytes.
const MaxIDLength = 128

// Shared is the organization token of what belongs to the operator and is
// shared by every organization, such as a published rate plan. No organization
// can take it as its identifier.
const Shared = "_"

// ValidID reports whether s matches ^[A-Za-z0-9_-]{1,128}$. It is checked
// before an identifier touches a key, a subject or a path.
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > MaxIDLength {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// entropy is the random part of identifiers. Within a millisecond it rises, so
// that identifiers sort in the order in which they were made.
var entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}

// NewID makes a new identifier, prefix and then a ULID: sortable by time,
// unguessable, valid by ValidID.
func NewID(prefix string, now time.Time) string {
	id := ulid.MustNew(ulid.Timestamp(now), entropy)
	var text [ulid.EncodedSize]byte
	_ = id.MarshalTextTo(text[:]) // which has room
	return prefix + string(text[:])
}

// IDTime is when an identifier was made by NewID, to the millisecond; ok is false
// when it was not.
func IDTime(id string) (at time.Time, ok bool) {
	u, err := ulid.ParseStrict(id[strings.LastIndexByte(id, '_')+1:])
	if err != nil {
		return time.Time{}, false
	}
	return u.Timestamp().UTC(), true
}
