package target_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// Many callbacks of one organization do not reset the gate of another's endpoint.
func TestRegistry_ManyCallbacks(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	registry := target.NewRegistry(open(t, s), gate.New(gate.Options{Concurrency: 8, EndpointConcurrency: 8, SlowSlices: 1, Now: time.Now}))
	storagetest.Put(t, s, &storage.Organization{ID: "org", Name: "Org"}, &storage.Organization{ID: "other", Name: "Other"})
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL = "ep", "https://partner.example/"
	storagetest.Put(t, s, &e)
	const subscriptions = 2 * 16384 / storage.MaxCallbacks
	var entities []storage.Entity
	for i := range subscriptions {
		o := &storage.OpenADRObject{ID: fmt.Sprintf("sub_%d", i), Type: storage.OpenADRSubscription, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "other"}}
		for range storage.MaxCallbacks {
			o.Callbacks = append(o.Callbacks, storage.Callback{URL: "https://ven.example/"})
		}
		entities = append(entities, o)
	}
	storagetest.Put(t, s, entities...)
	err := s.View(func(v storage.View) error {
		before, err := registry.Get(v, "org", "ep")
		if err != nil {
			return err
		}
		for _, o := range entities {
			for n := range storage.MaxCallbacks {
				if _, err := registry.Get(v, "other", o.(*storage.OpenADRObject).CallbackID(n)); err != nil {
					return err
				}
			}
		}
		after, err := registry.Get(v, "org", "ep")
		if err == nil && after.Gate != before.Gate {
			t.Error("the endpoint has another gate")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The callbacks of an organization to one server share a gate. Endpoints, other servers and
// other organizations have their own. A callback that moves takes the gate of its new server.
func TestRegistry_CallbacksOfOneServer(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	registry := target.NewRegistry(open(t, s), gate.New(gate.Options{Concurrency: 8, EndpointConcurrency: 8, SlowSlices: 1, Now: time.Now}))
	subscription := func(org, id, url string) {
		t.Helper()
		o := &storage.OpenADRObject{ID: id, Type: storage.OpenADRSubscription, Body: []byte(`{}`), Callbacks: []storage.Callback{{URL: url}}, Base: storage.Base{OrganizationID: org}}
		storagetest.Put(t, s, o)
	}
	gateOf := func(org, id string) (g *gate.Endpoint) {
		t.Helper()
		err := s.View(func(v storage.View) error {
			found, err := registry.Get(v, org, id)
			if err == nil {
				g = found.Gate
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	storagetest.Put(t, s, &storage.Organization{ID: "org", Name: "Org"}, &storage.Organization{ID: "other", Name: "Other"})
	subscription("org", "sub_1", "https://ven.example/1")
	subscription("org", "sub_2", "https://ven.example/2")
	subscription("org", "sub_3", "https://ven.example:8443/3")
	subscription("org", "sub_5", "https://VEN.example:443/5")
	subscription("other", "sub_4", "https://ven.example/4")
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL = "ep", "https://ven.example/5"
	storagetest.Put(t, s, &e)
	first := gateOf("org", "sub_1")
	for _, c := range []struct {
		org, id string
		same    bool
	}{{"org", "sub_1", true}, {"org", "sub_2", true}, {"org", "sub_5", true}, {"org", "sub_3", false}, {"other", "sub_4", false}, {"org", "ep", false}} {
		if same := gateOf(c.org, c.id) == first; same != c.same {
			t.Errorf("%s of %s has the gate of sub_1: %v, want %v", c.id, c.org, same, c.same)
		}
	}
	subscription("org", "sub_3", "https://ven.example/3")
	if gateOf("org", "sub_3") != first {
		t.Error("a callback that moved to a server does not have its gate")
	}
	if err := s.View(registry.Sweep); err != nil {
		t.Fatal(err)
	}
	if gateOf("org", "sub_2") != first {
		t.Error("the sweep dropped a gate that is in use")
	}
}
