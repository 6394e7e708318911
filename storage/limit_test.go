package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

func endpoint(org, id string) *storage.WebhookEndpoint {
	e := storage.NewWebhookEndpoint(org)
	e.ID, e.URL = id, "https://acme.example/hooks"
	return &e
}

// limited checks that the limit of endpoints stopped a write.
func limited(t *testing.T, err error) {
	t.Helper()
	var limit *storage.LimitError
	if !errors.As(err, &limit) || limit.Max != 3 || limit.Org != "acme" || !strings.Contains(err.Error(), "max-endpoints") {
		t.Errorf("got %v, want the limit max-endpoints of 3", err)
	}
}

func TestLimit_PerOrganization(t *testing.T) {
	s, _, _, _ := newStore(t)
	s.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: 3, Setting: "max-endpoints"})
	off := endpoint("acme", "off")
	off.Enabled = false
	for _, e := range []storage.Entity{off, endpoint("acme", "b"), endpoint("acme", "c"), endpoint("rival", "d"), home("e", "One")} {
		if err := s.Create(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	limited(t, s.Create(t.Context(), endpoint("acme", "d")))
	if err := s.Create(t.Context(), endpoint("acme", "b")); !errors.Is(err, storage.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	if err := s.Delete(t.Context(), endpoint("acme", "c").Ref()); err != nil {
		t.Fatal(err)
	}
	changed := endpoint("acme", "b")
	changed.Description = "changed"
	results := s.Upsert(t.Context(), []storage.Entity{changed, endpoint("acme", "c"), endpoint("acme", "d"), endpoint("rival", "e"), endpoint("acme", "off")})
	limited(t, results[2].Err)
	results[2].Err = nil
	if got := strings.Join(changes(results), " "); got != "updated created  created updated" {
		t.Errorf("got %s", got)
	}
}

// TestLimit_Deleted checks that an organization that creates and deletes all the time does not
// fill the scans of its entities with tombstones.
func TestLimit_Deleted(t *testing.T) {
	s, log, _, _ := newStore(t)
	s.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: 3, Setting: "max-endpoints"})
	const deletions = 10_000
	var gone []storage.Write
	for i := range deletions {
		gone = append(gone, storage.Write{Ref: storage.KindWebhookEndpoint.Ref("acme", fmt.Sprint("gone-", i)), Deleted: true})
	}
	for batch := range slices.Chunk(gone, storage.MaxBatch) {
		if _, err := log.AppendBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.CatchUp(t.Context()), s.Create(t.Context(), endpoint("acme", "last"))); err != nil {
		t.Fatalf("beside as many deleted ones as allowed: %v", err)
	}
	if err := s.Delete(t.Context(), endpoint("acme", "last").Ref()); err != nil {
		t.Fatal(err)
	}
	if _, refused := errors.AsType[*storage.LimitError](s.Create(t.Context(), endpoint("acme", "next"))); !refused {
		t.Error("one more is created")
	}
	if err := s.Create(t.Context(), endpoint("rival", "next")); err != nil {
		t.Errorf("another organization: %v", err)
	}
}

// A caller waits for others of its organization alone, and says that nothing was stored
// if it waits for too long.
func TestLimit_Waits(t *testing.T) {
	s, _, _, _ := newStore(t)
	s.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: 3, Setting: "max-endpoints"})
	slow := slowEntity{endpoint("acme", "a"), make(chan struct{}), make(chan struct{})}
	var first error
	var others sync.WaitGroup
	others.Go(func() { first = s.Upsert(t.Context(), []storage.Entity{slow})[0].Err })
	<-slow.started
	if err := s.Create(t.Context(), endpoint("rival", "a")); err != nil {
		t.Errorf("another organization: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Create(ctx, endpoint("acme", "b")); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the same organization: %v, want ErrUnavailable alone", err)
	}
	close(slow.end)
	others.Wait()
	if _, invalid := errors.AsType[*storage.InvalidError](first); !invalid {
		t.Errorf("first: %v", first)
	}
	if err := s.Create(t.Context(), endpoint("acme", "b")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// slowEntity is an entity whose validation waits.
type slowEntity struct {
	*storage.WebhookEndpoint
	started, end chan struct{}
}

func (e slowEntity) Check(p *storage.Problems) {
	close(e.started)
	<-e.end
	p.Addf("id", "is wrong in the end")
}

func TestLimit_ConcurrentCreates(t *testing.T) {
	s, _, _, _ := newStore(t)
	s.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: 3, Setting: "max-endpoints"})
	var all sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() {
			e := endpoint("acme", fmt.Sprint("e", i))
			if i%2 == 0 {
				errs[i] = s.Create(t.Context(), e)
			} else {
				errs[i] = s.Upsert(t.Context(), []storage.Entity{e})[0].Err
			}
		})
	}
	all.Wait()
	stored := 0
	for _, err := range errs {
		if err == nil {
			stored++
		} else {
			limited(t, err)
		}
	}
	if stored != 3 {
		t.Errorf("%d endpoints were stored, want 3", stored)
	}
}
