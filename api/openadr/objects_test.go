package openadr

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// business returns a request of acme's business logic.
func business(ctx context.Context, method, id string) *request {
	key := &storage.Key{ID: "key_1"}
	key.OrganizationID = "acme"
	r := httptest.NewRequestWithContext(ctx, method, Prefix+"3.1.1/programs/"+id, nil)
	return &request{Request: r, Call: &rest.Call{}, caller: caller{Key: key, business: true}, id: id}
}

func object(of storage.OpenADRType, id, parent string) *storage.OpenADRObject {
	o := &storage.OpenADRObject{ID: id, Type: of, Parent: parent, Body: []byte(`{}`)}
	o.OrganizationID = "acme"
	return o
}

// TestRemove_RepeatAfterFailure checks that a repeat of a deletion that was cut off deletes
// the remaining children.
func TestRemove_RepeatAfterFailure(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	storagetest.Put(t, store, object(storage.OpenADRProgram, "p", ""), object(storage.OpenADREvent, "e1", "p"), object(storage.OpenADREvent, "e2", "p"))
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1)}}
	programs := kinds()[0]
	writes := 0
	log.Intercept(func(storage.Write) error {
		if writes++; writes == 2 {
			return storage.ErrUnavailable
		}
		return nil
	})
	for _, want := range []error{storage.ErrUnavailable, nil, errGone} {
		if _, err := s.remove(programs, business(t.Context(), http.MethodDelete, "p")); !errors.Is(err, want) {
			t.Errorf("the deletion returned %v, want %v", err, want)
		}
	}
	for _, id := range []string{"e1", "e2"} {
		if e, err := storage.Get[storage.OpenADRObject](store, storage.OpenADRRef(storage.OpenADREvent, "acme", id)); err != nil || !e.Removed {
			t.Errorf("%s is not removed: %v", id, err)
		}
	}
}

// TestOperate_Disconnect checks that a client that leaves does not end the context of a
// write, and that the context has a timeout.
func TestOperate_Disconnect(t *testing.T) {
	s := &server{Deps: Deps{REST: &rest.Server{Options: rest.Options{Timeout: time.Minute}}}}
	left, leave := context.WithCancel(t.Context())
	leave()
	rt := &route{open: true, run: func(r *request) (any, error) {
		if _, bounded := r.Context().Deadline(); r.Context().Err() != nil || !bounded {
			t.Errorf("the context has ended: %v; it has a timeout: %t", r.Context().Err(), bounded)
		}
		return nil, nil
	}}
	if _, err := s.operate(rt, business(left, http.MethodPost, "p").Request, &rest.Call{}); err != nil {
		t.Error(err)
	}
}
