package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// A response of a stored change is counted and never refused.
func TestUnread_StoredChange(t *testing.T) {
	const size = 100 << 10
	u := unread{max: share * size, byOrg: map[string]int64{}}
	first, err := u.hold("acme", size, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.hold("acme", size, false); err == nil {
		t.Error("a second response of a reading operation is within the share")
	}
	second, err := u.hold("acme", size, true)
	if err != nil || u.total != 2*size {
		t.Errorf("a response of a stored change: %v, %d bytes counted", err, u.total)
	}
	second()
	first()
	if u.total != 0 || len(u.byOrg) != 0 {
		t.Errorf("%d bytes are left", u.total)
	}
}

// A reading operation may have the kind or the organization of a change. Its responses
// are limited like the others.
func TestUnread_ReadingOperation(t *testing.T) {
	s := New(Deps{Store: storage.NewStore(nil, nil, time.Now)}, Options{MaxUnread: share * leastCounted})
	held, err := s.unread.hold("acme", 2*leastCounted, false)
	if err != nil {
		t.Fatal(err)
	}
	defer held()
	for operation, want := range map[string]int{"": http.StatusServiceUnavailable, "create": http.StatusOK} {
		c := &Call{Change: Change{Operation: operation, Kind: "programs", Org: "acme"}}
		var failed error
		status, _ := s.write(httptest.NewRecorder(), c, ownFormat, strings.Repeat("x", 2*leastCounted), &failed)
		if status != want {
			t.Errorf("the operation %q: status %d, want %d: %v", operation, status, want, failed)
		}
	}
}
