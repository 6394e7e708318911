package rest

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Operators authenticates operator keys: the configured key, whose role is admin, and the
// stored keys.
type Operators struct {
	// Key is the configured key. If empty, only stored keys are accepted.
	Key   string
	Store *storage.Store
}

// Authenticate is an Authenticator for operator keys.
func (o Operators) Authenticate(r *http.Request, needs storage.Role, now time.Time) (Caller, error) {
	text, err := keyInHeader(r)
	if err != nil {
		return Caller{}, err
	}
	got, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(o.Key))
	if same := subtle.ConstantTimeCompare(got[:], want[:]) == 1; same && o.Key != "" {
		return Caller{Operator: true, Role: storage.RoleAdmin, KeyID: storage.BootstrapKeyID}, nil
	}
	id, secret, ok := storage.SplitKey(storage.OperatorKeyPrefix, text)
	if !ok {
		return Caller{}, errInvalidKey
	}
	key, err := storage.Get[storage.OperatorKey](o.Store, storage.OperatorKeyRef(id))
	if storage.IgnoreNotFound(err) != nil {
		return Caller{}, err
	}
	// A missing key has the empty hash, which no secret matches.
	if !key.Opens(secret, now) {
		return Caller{}, errInvalidKey
	}
	if !key.Role.Includes(needs) {
		return Caller{}, errOperatorRole(needs)
	}
	return Caller{Operator: true, Role: key.Role, KeyID: key.ID, KeyName: key.Name}, nil
}

// Only serves a page that is not an operation, with an X-Request-Id. It needs a key with the
// role admin.
func (o Operators) Only(page func(http.ResponseWriter, *http.Request, Caller)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := o.Authenticate(r, storage.RoleAdmin, time.Now())
		if err != nil {
			Refuse(w, r, err)
			return
		}
		w.Header().Set("X-Request-Id", requestID(r, time.Now()))
		page(w, r, c)
	})
}
