package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

const (
	// KeyHeader is the header with the API key.
	KeyHeader = "x-ws-api-key"
	// OrganizationHeader names the organization to act for. The operator may name any
	// organization. A channel partner may name one of its own child organizations.
	OrganizationHeader = "x-gridhook-organization"
)

// Caller is the authenticated sender of a request and its organization.
type Caller struct {
	// Operator is set for an operator key. Key is set for a partner's key. An open
	// operation sets neither.
	Operator bool
	// Role is the role of an operator key.
	Role storage.Role
	// KeyID identifies the key. KeyName is the name of an operator key.
	KeyID, KeyName string
	Key            *storage.Key
	// Org is the organization to act for. The header names it, otherwise it is the key's
	// organization. It is storage.Shared if the call acts for the operator.
	Org string
	// named is set if the header named Org.
	named bool
}

// Payer returns the organization that is charged for the call's share of common
// resources. For a partner, it is the organization of the key. A channel partner
// therefore has one share for all organizations that it acts for.
func (c *Caller) Payer() string {
	if c.Key != nil {
		return c.Key.OrganizationID
	}
	return c.Org
}

// anonymous reports whether the caller of an open operation sent the call.
func (c *Caller) anonymous() bool { return c.Key == nil && !c.Operator }

// Authenticator identifies the caller of a request by its key. The role of an operator key
// must include a role. It returns a public *Problem or an internal error.
type Authenticator func(r *http.Request, needs storage.Role, now time.Time) (Caller, error)

// Partner authenticates callers by an organization's API key.
func (s *Server) Partner(r *http.Request, _ storage.Role, now time.Time) (Caller, error) {
	text, err := keyInHeader(r)
	if err != nil {
		return Caller{}, err
	}
	key, secret, err := s.findKey(text)
	switch {
	case err != nil:
		return Caller{}, err
	case !key.Opens(secret, now):
		return Caller{}, errInvalidKey
	case key.suspended:
		return Caller{}, errSuspended
	}
	s.LastUsed.note(&key.Key, now)
	return Caller{KeyID: key.ID, Key: &key.Key, Org: key.OrganizationID}, nil
}

// keyInHeader returns the request's API key. A request with two keys is refused because the
// choice would be ambiguous.
func keyInHeader(r *http.Request) (string, error) {
	switch given := r.Header.Values(KeyHeader); {
	case len(given) > 1:
		return "", errInvalidKey
	case len(given) == 0 || given[0] == "":
		if r.Header.Get("Authorization") != "" {
			return "", errBearer
		}
		return "", errMissingKey
	default:
		return given[0], nil
	}
}

// unknownKey replaces a missing key in the comparison of secrets. The lookup of a missing key
// therefore takes as long as the lookup of an existing key.
var unknownKey = func() *knownKey {
	key, _ := storage.NewKey(storage.Shared, time.Unix(0, 0))
	return &knownKey{Key: key}
}()

// findKey returns the key of a key's text, or unknownKey if the key does not exist, and the
// secret for the comparison.
func (s *Server) findKey(text string) (key *knownKey, secret string, err error) {
	id, secret, ok := storage.SplitKey(storage.KeyPrefix, text)
	if !ok {
		return unknownKey, text, nil
	}
	key, err = s.known.get(s.Store, id)
	return cmp.Or(key, unknownKey), secret, err
}

// knownKey is a key with the state of its organization.
type knownKey struct {
	storage.Key
	suspended bool
}

// LiveKey returns a key by its identifier. It returns nil if the key is missing, revoked or
// expired, or if its organization is suspended. The caller must not change the key.
func (s *Server) LiveKey(id string, now time.Time) (*storage.Key, error) {
	known, err := s.known.get(s.Store, id)
	if known == nil || known.suspended || !known.Live(now) {
		return nil, err
	}
	return &known.Key, nil
}

// UseKey is LiveKey for a request, which it charges to the rate limit of the key. An exceeded
// rate limit is an error.
func (s *Server) UseKey(id string, now time.Time) (*storage.Key, error) {
	if !storage.ValidID(id) {
		return nil, nil
	}
	key, err := s.LiveKey(id, now)
	if key == nil {
		return nil, err
	}
	s.LastUsed.note(key, now)
	if err := s.takeRequest(key, now); err != nil {
		return nil, err
	}
	return key, nil
}

// keysShare is how many times the rate limit of a key the keys of an organization have in all.
const keysShare = 10

// takeRequest charges one request to the rate limits of a key and of its organization.
func (s *Server) takeRequest(key *storage.Key, now time.Time) error {
	if wait := s.keys.take(key.RateLimitID(), now); wait > 0 {
		return errRate("The API key", wait)
	}
	if wait := s.organizations.take(key.OrganizationID, now); wait > 0 {
		return errRate("The organization", wait)
	}
	return nil
}

// SecretKey is UseKey with a check of the secret. secret may also be the full text of the
// key.
func (s *Server) SecretKey(id, secret string, now time.Time) (*storage.Key, error) {
	if named, bare, whole := storage.SplitKey(storage.KeyPrefix, secret); whole && named == id {
		secret = bare
	}
	key, _, err := s.findKey(storage.KeyPrefix + id + "_" + secret)
	if err != nil || !key.Matches(secret) {
		return nil, err
	}
	return s.UseKey(id, now)
}

// keyCache caches keys while the store's revision is unchanged. Every request needs a
// key. Decoding the key takes longer than the rest of the authentication.
type keyCache struct {
	mu       sync.RWMutex
	revision uint64
	byID     map[string]*knownKey
}

// maxKeys is the maximum number of cached keys. A full cache is cleared.
const maxKeys = 16384

// get returns a key, or nil if the key does not exist. The caller must not change it.
func (c *keyCache) get(store *storage.Store, id string) (*knownKey, error) {
	c.mu.RLock()
	key, ok := c.byID[id]
	ok = ok && c.revision == store.Revision()
	c.mu.RUnlock()
	if ok {
		return key, nil
	}
	var revision uint64
	key = new(knownKey)
	err := store.View(func(v storage.View) error {
		revision = v.Revision()
		org, err := v.Owner(storage.KindKey, id)
		if err == nil {
			key.Key, _, err = storage.Read[storage.Key](v, storage.Ref{Kind: storage.KindKey, Org: org, ID: id})
		}
		if err == nil {
			key.suspended, err = storage.IsSuspended(v, org)
		}
		if err == nil {
			var creator bool
			creator, err = storage.EndLink(v, &key.Key)
			key.suspended = key.suspended || creator
		}
		return err
	})
	if err != nil {
		return nil, storage.IgnoreNotFound(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil || c.revision != revision || len(c.byID) >= maxKeys {
		c.revision, c.byID = revision, map[string]*knownKey{}
	}
	c.byID[strings.Clone(id)] = key // otherwise the cache would retain the whole request
	return key, nil
}

// name sets the caller's organization from the header. A repeated or empty header sets an
// empty organization, which operate refuses.
func (c *Caller) name(r *http.Request) {
	given := r.Header.Values(OrganizationHeader)
	if len(given) == 0 {
		return
	}
	c.Org, c.named = "", true
	if len(given) == 1 {
		c.Org = given[0]
	}
}

// MayActFor returns an error unless the caller may act for an organization. The operator
// may act for every existing organization. A key may act for its own organization and
// that organization's children. For a foreign organization, a partner gets the same error
// whether the organization exists or not.
func (s *Server) MayActFor(c *Caller, org string) error {
	switch {
	case c.Operator:
	case c.anonymous():
		return errForbiddenOrganization(org)
	case org == c.Key.OrganizationID:
		return nil
	}
	return s.Store.View(func(v storage.View) error {
		other, _, err := storage.Read[storage.Organization](v, storage.OrganizationRef(org))
		exists := err == nil
		if storage.IgnoreNotFound(err) != nil {
			return err
		}
		switch {
		case c.Operator && !exists:
			return errOrganization(org)
		case c.Operator:
			return nil
		}
		own, _, err := storage.Read[storage.Organization](v, storage.OrganizationRef(c.Key.OrganizationID))
		if storage.IgnoreNotFound(err) != nil {
			return err
		}
		if !exists || !slices.Contains(own.ChildOrganizationIDs, org) {
			return errForbiddenOrganization(org)
		}
		if other.Suspended {
			return errSuspended
		}
		return nil
	})
}
