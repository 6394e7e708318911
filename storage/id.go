package storage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// MaxIDLength is the maximum length of an identifier, in bytes.
const MaxIDLength = 128

// Shared is the organization token of entities that the operator owns and every
// organization shares, such as a published rate plan. No organization can use it as its
// identifier.
const Shared = "_"

// ValidID reports whether s matches ^[A-Za-z0-9_-]{1,128}$. Every identifier must pass
// ValidID before it becomes part of a key, a subject or a path.
func ValidID(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return len(s) > 0 && len(s) <= MaxIDLength && strings.Trim(s, allowed) == ""
}

// entropy is the random part of identifiers. It rises within a millisecond, so that
// identifiers sort in the order of their creation.
var entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new identifier: prefix and then a ULID. It is sortable by time,
// unguessable and valid by ValidID.
func NewID(prefix string, now time.Time) string {
	return prefix + ulid.MustNew(ulid.Timestamp(now), entropy).String()
}

// Hash returns the first size bytes of the SHA-256 of a text, in hex.
func Hash[T ~string | ~[]byte](text T, size int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:size])
}

// IDTime returns the time at which NewID made an identifier, to the millisecond. ok is
// false if NewID did not make the identifier.
func IDTime(id string) (at time.Time, ok bool) {
	u, err := ulid.ParseStrict(id[strings.LastIndexByte(id, '_')+1:])
	if err != nil {
		return time.Time{}, false
	}
	return u.Timestamp().UTC(), true
}
