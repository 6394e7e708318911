package storage

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Scope is what a key may do.
type Scope string

// The scopes of keys.
const (
	// ScopeRead reads homes, devices, endpoints and deliveries.
	ScopeRead Scope = "read"
	// ScopeWrite changes them.
	ScopeWrite Scope = "write"
	// ScopeTrigger triggers webhooks.
	ScopeTrigger Scope = "trigger"
)

// Scopes are all scopes; a key made without a list has them all.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeWrite, ScopeTrigger} }

// Key is an API key of an organization. Of its secret only a hash is stored.
type Key struct {
	ID          string  `json:"keyId"`
	Description string  `json:"description,omitempty"`
	Scopes      []Scope `json:"scopes"`
	// SecretHash is the SHA-256 of the secret, in hex.
	SecretHash string `json:"secretHash"`
	// ExpiresAt and RevokedAt are zero when they do not apply.
	ExpiresAt Time `json:"expiresAt"`
	RevokedAt Time `json:"revokedAt"`
	Base
}

// KeyPrefix begins every API key that is given to a partner.
const KeyPrefix = "ghk_"

// NewKey makes a key with a fresh 256-bit secret and returns the text to hand to
// the partner, ghk_<key id>_<secret>, which is never stored.
func NewKey(org string, now time.Time) (key Key, text string) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: see crypto/rand
	s := hex.EncodeToString(secret[:])
	key = Key{ID: NewID("key_", now), SecretHash: hashSecret(s), Scopes: Scopes()}
	key.OrganizationID = org
	return key, KeyPrefix + key.ID + "_" + s
}

// SplitKey takes a key's text apart. ok is false when it cannot be one.
func SplitKey(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, KeyPrefix)
	if !ok {
		return "", "", false
	}
	i := strings.LastIndexByte(rest, '_')
	if i <= 0 || !ValidID(rest[:i]) || i == len(rest)-1 {
		return "", "", false
	}
	return rest[:i], rest[i+1:], true
}

// Matches compares the secret in constant time.
func (k *Key) Matches(secret string) bool {
	var room, given, stored [2 * sha256.Size]byte // hashSecret would leave garbage with every request
	sum := sha256.Sum256(append(room[:0], secret...))
	hex.Encode(given[:], sum[:])
	whole := copy(stored[:], k.SecretHash) == len(k.SecretHash)
	return subtle.ConstantTimeCompare(given[:], stored[:]) == 1 && whole
}

// Live reports whether the key is neither expired nor revoked.
func (k *Key) Live(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt.Time))
}

// Allows reports whether the key has the scope.
func (k *Key) Allows(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Ref names the key.
func (k *Key) Ref() Ref { return Ref{KindKey, k.OrganizationID, k.ID} }

// Validate names every wrong field.
func (k *Key) Validate() error {
	var p Problems
	checkID(&p, "keyId", k.ID)
	checkText(&p, "description", k.Description, 0, 255)
	p.Check(len(k.Scopes) > 0, "scopes", "must name at least one scope")
	for i, s := range k.Scopes {
		checkEnum(&p, index("scopes", i), s, Scopes()...)
	}
	return p.Err()
}

func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
