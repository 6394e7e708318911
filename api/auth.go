package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gridhook/gridhook/storage"
)

const (
	// KeyHeader carries the API key.
	KeyHeader = "x-ws-api-key"
	// OrganizationHeader names the organization to act for: any, for the
	// operator; one of the own children, for a channel partner.
	OrganizationHeader = "x-gridhook-organization"
)

// The names as net/http keeps them: to ask by another form is to make this one for each
// request.
var (
	keptKeyHeader          = http.CanonicalHeaderKey(KeyHeader)
	keptOrganizationHeader = http.CanonicalHeaderKey(OrganizationHeader)
)

// caller is who asks, and for which organization.
type caller struct {
	// operator is set where the operator's key was given; keyID and key are the
	// partner's otherwise, and nothing of an open operation.
	operator bool
	keyID    string
	key      *storage.Key
	// org is the organization that is acted for, as the header says or else the
	// key's own.
	org string
	// named is set where the header said so.
	named bool
}

// authenticator finds out who calls. Its errors are public problems, or faults.
type authenticator func(r *http.Request, route *Route, now time.Time) (caller, error)

// partner knows callers by the keys of organizations.
func (s *server) partner(r *http.Request, route *Route, now time.Time) (caller, error) {
	if route.Open {
		return caller{}, nil
	}
	text, err := givenKey(r)
	if err != nil {
		return caller{}, err
	}
	key, secret, err := s.findKey(text)
	if err != nil {
		return caller{}, err
	}
	if matches := key.Matches(secret); !matches || !key.Live(now) {
		return caller{}, errInvalidKey
	}
	s.Uses.note(key, now)
	c := caller{keyID: key.ID, key: key, org: key.OrganizationID}
	c.name(r)
	return c, nil
}

// operator knows the operator by one key.
func (s *server) operator(operatorKey string) authenticator {
	known := sentBy(operatorKey)
	return func(r *http.Request, route *Route, _ time.Time) (caller, error) {
		if route.Open {
			return caller{}, nil
		}
		if err := known(r); err != nil {
			return caller{}, err
		}
		c := caller{operator: true}
		c.name(r)
		return c, nil
	}
}

// OperatorOnly serves what is no operation to those alone who send the operator's key.
func OperatorOnly(operatorKey string, page http.Handler) http.Handler {
	known := sentBy(operatorKey)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := known(r); err != nil {
			Refuse(w, r, err)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// sentBy tells whether a request came with one key, and nil where it did. An empty key
// is nobody's.
func sentBy(key string) func(*http.Request) error {
	want := sha256.Sum256([]byte(key))
	return func(r *http.Request) error {
		text, err := givenKey(r)
		if err != nil {
			return err
		}
		got := sha256.Sum256([]byte(text))
		if same := subtle.ConstantTimeCompare(got[:], want[:]) == 1; !same || key == "" {
			return errInvalidKey
		}
		return nil
	}
}

// givenKey is the request's key. Two of them are none: which one counts would be
// anybody's guess.
func givenKey(r *http.Request) (string, error) {
	switch given := r.Header[keptKeyHeader]; {
	case len(given) > 1:
		return "", errInvalidKey
	case len(given) == 0 || given[0] == "":
		return "", errMissingKey
	default:
		return given[0], nil
	}
}

// nobody stands in for a key that does not exist, so that looking for one takes
// as long as finding it.
var nobody = func() *storage.Key {
	key, _ := storage.NewKey(storage.Shared, time.Unix(0, 0))
	return &key
}()

// findKey returns the key that a text names, or nobody's, and the secret to
// compare with it.
func (s *server) findKey(text string) (key *storage.Key, secret string, err error) {
	id, secret, ok := storage.SplitKey(text)
	if !ok {
		return nobody, text, nil
	}
	key, err = s.known.of(s.Store, storage.Ref{Kind: storage.KindKey, ID: id}, decodeKey)
	if errors.Is(err, storage.ErrNotFound) {
		return nobody, secret, nil
	}
	return key, secret, err
}

func decodeKey(r storage.Record) (*storage.Key, error) {
	key, err := storage.Decode[storage.Key](r)
	return &key, err
}

// name takes over the organization that the header names. One that is repeated
// or empty names nothing valid, and is refused as such.
func (c *caller) name(r *http.Request) {
	given := r.Header[keptOrganizationHeader]
	if len(given) == 0 {
		return
	}
	c.org, c.named = "", true
	if len(given) == 1 {
		c.org = given[0]
	}
}

// actFor checks that the caller may act for the organization it named.
func (s *server) actFor(c *caller, p *problems) error {
	if !storage.ValidID(c.org) {
		p.Addf(OrganizationHeader, "must be one header that names the organization to act for")
		return nil
	}
	return s.mayActFor(c, c.org)
}

// mayActFor reports whether the caller may act for an organization: the operator
// for each that exists, a key for its own organization and that one's children.
// A partner hears the same of a foreign organization whether it exists or not.
func (s *server) mayActFor(c *caller, org string) error {
	switch {
	case c.operator:
	case c.key == nil:
		return errForbiddenOrganization // of an open operation
	case org == c.key.OrganizationID:
		return nil
	}
	return s.Store.View(func(v storage.View) error {
		_, _, err := storage.Read[storage.Organization](v, storage.OrganizationRef(org))
		exists := err == nil
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		switch {
		case c.operator && !exists:
			return errNoOrganization
		case c.operator:
			return nil
		}
		own, _, err := storage.Read[storage.Organization](v, storage.OrganizationRef(c.key.OrganizationID))
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if !exists || !slices.Contains(own.ChildOrganizationIDs, org) {
			return errForbiddenOrganization
		}
		return nil
	})
}
