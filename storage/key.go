package storage

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
)

// Scope is a permission of a key.
type Scope string

// The scopes of keys.
const (
	// ScopeRead reads homes, devices, endpoints and deliveries.
	ScopeRead Scope = "read"
	// ScopeWrite changes homes, devices, endpoints and deliveries.
	ScopeWrite Scope = "write"
	// ScopeTrigger triggers webhooks.
	ScopeTrigger Scope = "trigger"
	// ScopeHomes lists and searches homes. ScopeRead includes it.
	ScopeHomes Scope = "homes:read"
	// ScopeVEN is the role of a VEN in the OpenADR interface. ScopeBusiness is the role
	// of business logic.
	ScopeVEN      Scope = "openadr:ven"
	ScopeBusiness Scope = "openadr:bl"
)

// Scopes returns all scopes.
func Scopes() []Scope {
	return []Scope{ScopeRead, ScopeWrite, ScopeTrigger, ScopeHomes, ScopeVEN, ScopeBusiness}
}

// DefaultScopes returns the scopes of a key that is created without a list.
func DefaultScopes() []Scope { return []Scope{ScopeRead, ScopeWrite, ScopeTrigger} }

// Key is an API key of an organization. It stores only a hash of its secret.
type Key struct {
	ID          string  `json:"keyId"`
	Description string  `json:"description,omitempty"`
	Scopes      []Scope `json:"scopes"`
	Credential
	// Rotated says that a rotation limited ExpiresAt. OriginalExpiresAt is the value before
	// the first rotation: the new key of each rotation has it.
	Rotated           bool `json:"rotated,omitempty"`
	OriginalExpiresAt Time `json:"originalExpiresAt,omitzero"`
	// Link says that the key is of a console link.
	Link bool `json:"link,omitempty"`
	// CreatedBy is the key that created the link, empty if an operator did.
	CreatedBy string `json:"createdBy,omitempty"`
	Base
}

// Credential is the secret of a key and its validity.
type Credential struct {
	// SecretHash is the SHA-256 of the secret, in hex.
	SecretHash string `json:"secretHash"`
	// ExpiresAt and RevokedAt are zero if the key does not expire or is not revoked.
	ExpiresAt Time `json:"expiresAt"`
	RevokedAt Time `json:"revokedAt"`
}

// KeyPrefix begins every API key. keyIDPrefix begins every identifier of an API key.
const (
	KeyPrefix   = "ghk_"
	keyIDPrefix = "key_"
)

// IsAPIKey reports whether the identifier of a caller names an API key.
func IsAPIKey(id string) bool { return strings.HasPrefix(id, keyIDPrefix) }

// NewKey returns a key with a new 256-bit secret. text is the form for the partner:
// ghk_<key id>_<secret>. It is never stored.
func NewKey(org string, now time.Time) (key Key, text string) {
	return NewKeyWithID(org, NewID(keyIDPrefix, now))
}

// NewKeyWithID is NewKey for a key with a known identifier.
func NewKeyWithID(org, id string) (key Key, text string) {
	secret, credential := newSecret()
	key = Key{ID: id, Credential: credential, Scopes: DefaultScopes(), Base: Base{OrganizationID: org}}
	return key, KeyPrefix + key.ID + "_" + secret
}

// newSecret returns a new 256-bit secret in hex, and its credential to store.
func newSecret() (secret string, stored Credential) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: see crypto/rand
	secret = hex.EncodeToString(random[:])
	return secret, Credential{SecretHash: hashSecret(secret)}
}

// SplitKey splits the text of a key with a prefix into identifier and secret. ok is false if
// the text cannot be such a key.
func SplitKey(prefix, text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, prefix)
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
func (k *Credential) Matches(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(hashSecret(secret)), []byte(k.SecretHash)) == 1
}

// Live reports whether the key is neither expired nor revoked.
func (k *Credential) Live(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt.Time))
}

// Opens reports whether the secret is the key's, and the key is neither expired nor
// revoked.
func (k *Credential) Opens(secret string, now time.Time) bool {
	matches := k.Matches(secret)
	return matches && k.Live(now)
}

// Revoke revokes the key, unless it is revoked already.
func (k *Credential) Revoke(now time.Time) {
	if k.RevokedAt.IsZero() {
		k.RevokedAt = Time{Time: now}
	}
}

// EndLink shows the key of a console link as revoked if the key that created it is revoked,
// damaged or gone, or may not act for the link's organization any more. That key may be of a
// channel partner. suspended reports whether its organization is suspended.
func EndLink(v View, k *Key) (suspended bool, err error) {
	if k.CreatedBy == "" || !k.RevokedAt.IsZero() {
		return false, nil
	}
	org, err := v.Owner(KindKey, k.CreatedBy)
	var creator Key
	var owner Organization
	if err == nil {
		creator, _, err = Read[Key](v, KindKey.Ref(org, k.CreatedBy))
	}
	if err == nil {
		owner, _, err = Read[Organization](v, OrganizationRef(org))
	}
	if err != nil && !NoRecord(err) {
		return false, err
	}
	k.RevokedAt = creator.RevokedAt
	if err != nil || org != k.OrganizationID && !slices.Contains(owner.ChildOrganizationIDs, k.OrganizationID) {
		k.Revoke(k.CreatedAt.Time) // no record has the time
	}
	return owner.Suspended, nil
}

// EndedKeyRetention is how long a key remains after its revocation or expiry. The key of a
// console link does not remain.
const EndedKeyRetention = 30 * 24 * time.Hour

// end returns the time of the revocation or expiry, zero for a key that has neither.
func (k *Credential) end() time.Time {
	if k.ExpiresAt.IsZero() || !k.RevokedAt.IsZero() && k.RevokedAt.Before(k.ExpiresAt.Time) {
		return k.RevokedAt.Time
	}
	return k.ExpiresAt.Time
}

// EndedKeys returns the API keys whose retention has passed, and the last uses of these keys
// and of absent keys. An absent key is refused like a revoked key.
func EndedKeys(v View, now time.Time) (ended []Record, err error) {
	gone := map[string]bool{}
	ended, err = Matching(v, KindKey, func(r Record) bool {
		k, err := Decode[Key](r) // a record that does not decode is another matter
		gone[r.ID] = err == nil && !k.Live(now) && (k.Link || now.Sub(k.end()) > EndedKeyRetention)
		return gone[r.ID]
	})
	if err != nil {
		return nil, err
	}
	var failed error
	uses, err := Matching(v, KindKeyUse, func(use Record) bool {
		key, err := find(v, KindKey.Ref(use.Org, use.ID))
		failed = errors.Join(failed, err)
		return gone[use.ID] || err == nil && !key.live()
	})
	return append(ended, uses...), errors.Join(err, failed)
}

// CountLive returns a function that reports whether the record of a key is live. A key that
// does not decode counts.
func CountLive(now func() time.Time) func(Record) bool {
	return func(r Record) bool {
		k, err := Decode[Key](r)
		return err != nil || k.Live(now())
	}
}

// Allows reports whether the key has the scope, or another scope that includes it.
func (k *Key) Allows(s Scope) bool {
	return slices.Contains(k.Scopes, s) || s == ScopeHomes && slices.Contains(k.Scopes, ScopeRead)
}

// RateLimitID names the rate limit that the key's requests count against. The links of a
// key share the limit of the key.
func (k *Key) RateLimitID() string {
	if k.CreatedBy != "" {
		return k.CreatedBy
	}
	return k.ID
}

// Ref names the key.
func (k *Key) Ref() Ref { return KindKey.Ref(k.OrganizationID, k.ID) }

func hashSecret(secret string) string { return Hash(secret, sha256.Size) }
