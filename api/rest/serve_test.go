package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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

// deadlines records the last write deadline.
type deadlines struct {
	http.ResponseWriter
	write time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.write = t
	return nil
}

// An operation with a longer timeout than the others has as long to write its response. HTTP/2
// ends a stream at its write deadline, even before the response.
func TestDeadline_LongOperation(t *testing.T) {
	s := &Server{Options: Options{Timeout: time.Minute}}
	for timeout, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Minute, time.Hour: time.Hour} {
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		before := time.Now()
		ctx, cancel := s.deadline(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil), &Route{Timeout: timeout})
		cancel()
		end, _ := ctx.Deadline()
		if end.Before(before.Add(want)) || end.After(time.Now().Add(want)) {
			t.Errorf("with %s the operation ends at %s, want in %s", timeout, end, want)
		}
		if long := want > s.Options.Timeout; w.write.IsZero() == long || long && w.write.Before(end) {
			t.Errorf("with %s the write deadline is %s, the operation's %s", timeout, w.write, end)
		}
	}
}
