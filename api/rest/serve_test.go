package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// An idempotency key has 1 to 255 visible ASCII characters.
func TestIdempotencyKey_Characters(t *testing.T) {
	for key, valid := range map[string]bool{
		"!": true, "~": true, strings.Repeat("k", 255): true,
		"": false, " ": false, "a b": false, "\x7f": false, "é": false, strings.Repeat("k", 256): false,
	} {
		r := &http.Request{Header: http.Header{IdempotencyHeader: {key}}}
		var wrong FieldErrors
		if got := idempotencyKey(r, &wrong); (wrong.Err() == nil) != valid || valid && got != key {
			t.Errorf("the key %q is %q: %v", key, got, wrong.Err())
		}
	}
}

// An operator key needs the role that corresponds to the scope of a partner's operation.
func TestRoute_Needs(t *testing.T) {
	for scope, want := range map[storage.Scope]storage.Role{
		storage.ScopeRead: storage.RoleRead, storage.ScopeHomes: storage.RoleRead, storage.ScopeWrite: storage.RoleOperate, storage.ScopeTrigger: storage.RoleOperate,
	} {
		if got := (&Route{Scope: scope}).Needs(); got != want {
			t.Errorf("the scope %s needs the role %s, want %s", scope, got, want)
		}
	}
	if got := (&Route{Role: storage.RoleAdmin, Scope: storage.ScopeRead}).Needs(); got != storage.RoleAdmin {
		t.Errorf("an operator's operation needs the role %s", got)
	}
}

// A longer timeout of an operation replaces the timeout of all operations.
func TestDeadline_LongOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Options: Options{Timeout: time.Minute}}
		for timeout, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Minute, time.Hour: time.Hour} {
			ctx, cancel := s.deadline(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil), &Route{Timeout: timeout})
			end, _ := ctx.Deadline()
			if got := time.Until(end); got != want {
				t.Errorf("with %s the operation has %s, want %s", timeout, got, want)
			}
			cancel()
		}
	})
}
