package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// of returns the caller with a key of an organization.
func of(org string) *Caller {
	return &Caller{Key: &storage.Key{Base: storage.Base{OrganizationID: org}}, Org: org}
}

func TestBodyMemory_Hold(t *testing.T) {
	const size = 100 << 10 // the share of an organization
	operator, anonymous, child := &Caller{Operator: true}, &Caller{}, of("acme")
	child.Org = "child"
	type body struct {
		of      *Caller
		n       int64
		changed bool
	}
	for name, test := range map[string]struct {
		held []body
		next body
		want int // status of the refusal, 0 if the next body is accepted
	}{
		"nothing else is held":          {nil, body{of("acme"), 9 * size, false}, 0},
		"within the share":              {[]body{{of("acme"), size / 2, false}}, body{of("acme"), size / 2, false}, 0},
		"beyond the share":              {[]body{{of("acme"), size / 2, false}}, body{of("acme"), size/2 + 1, false}, http.StatusTooManyRequests},
		"not counted":                   {[]body{{of("acme"), size, false}}, body{of("acme"), LargeBody, false}, 0},
		"another organization":          {[]body{{of("acme"), size, false}}, body{of("bolt"), size, false}, 0},
		"for a child organization":      {[]body{{of("acme"), size, false}}, body{child, size, false}, http.StatusTooManyRequests},
		"the response of a change":      {[]body{{of("acme"), size, false}}, body{of("acme"), size, true}, 0},
		"callers without a key":         {[]body{{anonymous, size, false}}, body{anonymous, size, false}, http.StatusTooManyRequests},
		"the operator has no share":     {[]body{{operator, 3 * size, false}}, body{operator, size, false}, 0},
		"the operator beyond the limit": {[]body{{operator, 3 * size, false}}, body{operator, size + 1, false}, http.StatusServiceUnavailable},
		"beyond the limit":              {[]body{{of("acme"), 4 * size, false}}, body{of("bolt"), size, false}, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			m := bodyMemory{max: share * size}
			var releases []func()
			for _, b := range append(test.held, test.next) {
				release, err := m.hold(b.of, b.n, b.changed)
				refused, _ := errors.AsType[*Problem](err)
				if len(releases) < len(test.held) && err != nil || len(releases) == len(test.held) && (refused == nil) != (test.want == 0) {
					t.Fatalf("body %d: %v", len(releases), err)
				}
				if refused != nil {
					if refused.Status != test.want {
						t.Errorf("refused with %v, want %d", refused, test.want)
					}
					continue
				}
				releases = append(releases, release)
			}
			for _, release := range releases {
				release()
			}
			if m.held.total != 0 || len(m.held.by) != 0 {
				t.Errorf("%d bytes are left", m.held.total)
			}
		})
	}
}

// A reading operation may have the kind or the organization of a change. Its responses
// are limited like the others.
func TestBodyMemory_ReadingOperation(t *testing.T) {
	s := New(Deps{Store: storage.NewStore(nil, nil, time.Now)}, Options{MaxUnread: share * LargeBody})
	held, err := s.bodies.hold(of("acme"), 2*LargeBody, false)
	if err != nil {
		t.Fatal(err)
	}
	defer held()
	for operation, want := range map[string]int{"": http.StatusTooManyRequests, "create": http.StatusOK} {
		c := &Call{Caller: *of("acme"), Change: Change{Operation: operation, Kind: "programs", Org: "acme"}}
		var failed error
		status, _ := s.write(httptest.NewRecorder(), c, ownFormat, strings.Repeat("x", 2*LargeBody), &failed)
		if status != want {
			t.Errorf("the operation %q: status %d, want %d: %v", operation, status, want, failed)
		}
	}
}

// A body without a Content-Length counts by what it has, not by the limit of its route.
func TestServer_ReadBody_Chunked(t *testing.T) {
	const limit = 32 * LargeBody
	s := New(Deps{Store: storage.NewStore(nil, nil, time.Now)}, Options{MaxUnread: share * limit})
	chunked := func(size int) (*Call, error) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", size)))
		r.ContentLength = -1
		r.Body = http.MaxBytesReader(nil, r.Body, limit)
		c := &Call{Caller: *of("acme")}
		text, err := s.ReadBody(r, c, limit)
		if err == nil && len(text) != size {
			t.Errorf("%d bytes of %d are read", len(text), size)
		}
		return c, err
	}
	for _, test := range []struct{ size, counted int }{
		{0, 0}, {LargeBody, 0}, {LargeBody + 1, 2 * LargeBody}, {2 * LargeBody, 2 * LargeBody}, {limit - 1, limit}, {limit, limit},
	} {
		c, err := chunked(test.size)
		if held := s.bodies.held.total; err != nil || held != int64(test.counted) {
			t.Errorf("a body of %d bytes counts as %d, want %d: %v", test.size, held, test.counted, err)
		}
		c.release()
	}
	if _, err := chunked(limit + 1); !errors.As(err, new(*http.MaxBytesError)) {
		t.Errorf("a body beyond the limit: %v", err)
	}
}
