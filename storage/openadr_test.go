package storage_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// A client sees the targets of its VEN and of the VEN's resources. A damaged resource
// grants nothing and changes nothing for the others.
func TestGranted_DamagedResource(t *testing.T) {
	s, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	ven := storage.VENID("key_1")
	object := func(of storage.OpenADRType, id, target string) *storage.OpenADRObject {
		return &storage.OpenADRObject{
			ID: id, Type: of, ClientID: "key_1", Targets: []string{target}, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"},
		}
	}
	storagetest.Put(t, s, object(storage.OpenADRVEN, ven, "street"), object(storage.OpenADRResource, ven+"_b", "roof"), object(storage.OpenADRResource, ven+"_c", "car"))
	damaged := storage.OpenADRRef(storage.OpenADRResource, "org", ven+"_a")
	if _, err := log.AppendBatch(t.Context(), []storage.Write{{Ref: damaged, At: storagetest.Start, Value: []byte(`{"targets": 7}`)}}); err != nil {
		t.Fatal(err)
	}
	err := s.View(func(v storage.View) error {
		granted, err := storage.Granted(v, "org", "key_1")
		if got := slices.Sorted(maps.Keys(granted)); !slices.Equal(got, []string{"car", "roof", "street"}) {
			t.Errorf("granted are %v", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestListEndpoints_Cursors checks every callback after a cursor, and cursors of no
// callback, which are no endpoints either.
func TestListEndpoints_Cursors(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	callback := storage.Callback{URL: "https://a.example/h"}
	o := &storage.OpenADRObject{ID: "sub_X", Type: storage.OpenADRSubscription, Body: []byte(`{}`), Callbacks: []storage.Callback{callback, callback, callback}}
	o.OrganizationID = "acme"
	storagetest.Put(t, s, o)
	for after, want := range map[string]int{"": 3, "sub_X": 2, "sub_X-1": 1, "sub_X-2": 0, "sub_X-9": 0, "sub_X--5": 3, "sub_X-x": 3, "sub_X-99999999999999999999": 3} {
		list, err := storage.Query(s, func(v storage.View) ([]storage.WebhookEndpoint, error) {
			return storage.ListEndpoints(v, "acme", after, 10, nil)
		})
		if err != nil || len(list) != want {
			t.Errorf("%d endpoints after %q, want %d: %v", len(list), after, want, err)
		}
	}
	for _, id := range []string{"sub_X-0", "sub_X-01", "sub_X-x", "sub_X--1", "sub_X-3"} {
		_, err := storage.Query(s, func(v storage.View) (storage.WebhookEndpoint, error) {
			r, err := storage.FindEndpoint(v, "acme", id)
			if err != nil {
				return storage.WebhookEndpoint{}, err
			}
			return storage.DecodeEndpoint(r)
		})
		unchanged := func(*storage.WebhookEndpoint) error { return nil }
		if update := storage.UpdateEndpoint(t.Context(), s, "acme", id, unchanged); !errors.Is(err, storage.ErrNotFound) || !errors.Is(update, storage.ErrNotFound) {
			t.Errorf("%s: read %v, update %v, want not found", id, err, update)
		}
	}
}
