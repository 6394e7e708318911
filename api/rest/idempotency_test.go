package rest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// requests stores idempotent requests in memory.
type requests struct {
	stored   map[string]storage.IdempotentRequest
	revision map[string]uint64
}

func (r *requests) Request(_ context.Context, _, id string) (storage.IdempotentRequest, uint64, error) {
	o, ok := r.stored[id]
	if !ok {
		return o, 0, storage.ErrNotFound
	}
	return o, r.revision[id], nil
}

func (r *requests) PutRequest(_ context.Context, o storage.IdempotentRequest, expect uint64) (uint64, error) {
	if r.revision[o.ID] != expect {
		return 0, storage.ErrConflict
	}
	r.stored[o.ID] = o
	r.revision[o.ID]++
	return r.revision[o.ID], nil
}

// idempotent returns a server with keysADay new idempotency keys a day, and a call with a key.
func idempotent(keysADay int, now *time.Time) (*Server, *Call) {
	store, _, _ := storagetest.NewStore(func() time.Time { return *now })
	stored := &requests{map[string]storage.IdempotentRequest{}, map[string]uint64{}}
	key := &storage.Key{Base: storage.Base{OrganizationID: "org"}}
	return New(Deps{Store: store, Requests: stored}, Options{MaxIdempotencyKeys: keysADay}), &Call{Caller: Caller{Key: key, Org: "org"}, IdempotencyKey: "key"}
}

// Two requests with one key may run at the same time. Both get the response that is stored first,
// unless one of them outlives the key.
func TestIdempotent_FirstResponse(t *testing.T) {
	for name, tt := range map[string]struct {
		later time.Duration // of the other request
		want  string
	}{"at the same time": {time.Minute, "other"}, "after the key's end": {storage.IdempotencyRetention, "own"}} {
		now := storagetest.Start
		s, c := idempotent(10, &now)
		got, err := Idempotent(t.Context(), s, c, "own", "input", func(string) (string, error) {
			now = now.Add(tt.later)
			_, err := Idempotent(t.Context(), s, c, "other", "input", func(string) (string, error) { return "other", nil })
			return "own", err
		})
		if err != nil || got != tt.want {
			t.Errorf("%s: the response is %q, %v, want %q", name, got, err, tt.want)
		}
		if again, err := Idempotent(t.Context(), s, c, "again", "input", func(string) (string, error) { return "again", nil }); err != nil || again != "other" {
			t.Errorf("%s: a repeat gets %q, %v", name, again, err)
		}
	}
}

// A key with a response of more than 4 KiB counts as several keys of the organization.
func TestIdempotent_LargeResponse(t *testing.T) {
	const keysADay = 10
	for size, want := range map[int]int{100: keysADay, 3*KeyBytes + 100: 7} { // one key with 4 shares, and six others
		now := storagetest.Start
		s, c := idempotent(keysADay, &now)
		accepted := 0
		for i := range keysADay + 1 {
			c.IdempotencyKey = strings.Repeat("k", i+1)
			n := size
			if i > 0 {
				n = 0
			}
			_, err := Idempotent(t.Context(), s, c, "made", "input", func(string) (string, error) { return strings.Repeat("x", n), nil })
			p := (*Problem)(nil)
			switch {
			case err == nil:
				accepted++
			case !errors.As(err, &p) || p.Code != CodeRateLimited:
				t.Fatal(err)
			}
		}
		if accepted != want {
			t.Errorf("after a response of %d bytes, %d keys are accepted in all, want %d", size, accepted, want)
		}
	}
}
