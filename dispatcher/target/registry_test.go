package target_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// The callbacks of an organization to one server share a gate. Endpoints, other servers and
// other organizations have their own. A callback that moves takes the gate of its new server.
func TestRegistry_CallbacksOfOneServer(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	registry := target.NewRegistry(open(t, s), gate.New(gate.Options{Concurrency: 8, EndpointConcurrency: 8, SlowSlices: 1, Now: time.Now}), time.Now)
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
}

// The gate of a server outlives its callbacks' targets for a while. The gate of a server
// that has asked to wait stays until then. Its breaker has the name that the callbacks ask for.
func TestRegistry_UnusedServers(t *testing.T) {
	now := storagetest.Start
	clock := func() time.Time { return now }
	s, _, _ := storagetest.NewStore(clock)
	registry := target.NewRegistry(open(t, s), gate.New(gate.Options{Concurrency: 8, EndpointConcurrency: 8, SlowSlices: 1, Now: clock}), clock)
	gateOf := func(url string) (*gate.Endpoint, string) {
		t.Helper()
		o := &storage.OpenADRObject{ID: "sub_1", Type: storage.OpenADRSubscription, Callbacks: []storage.Callback{{URL: url}}, Base: storage.Base{OrganizationID: "org"}}
		found, err := registry.Callback(o.Endpoint(0))
		if err != nil {
			t.Fatal(err)
		}
		return found.Gate, found.BreakerID()
	}
	sweep := func(after time.Duration) {
		t.Helper()
		now = now.Add(after)
		if err := s.View(registry.Sweep); err != nil {
			t.Fatal(err)
		}
	}
	good, _ := gateOf("https://ven.example/1")
	waiting, name := gateOf("https://busy.example/1")
	pass, err := waiting.Enter(t.Context(), func() int { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	pass.Leave(gate.Report{Sent: true, Responded: true, RetryAfter: time.Hour})
	if list := registry.OpenBreakers(); len(list) != 1 || list[0].OrganizationID != "org" || list[0].EndpointID != name {
		t.Errorf("open breakers are %+v, want %s", list, name)
	}
	if down := registry.Down(now); down != 1 {
		t.Errorf("%d servers are down", down)
	}
	sweep(9 * time.Minute)
	if same, _ := gateOf("https://ven.example/2"); same != good {
		t.Error("a gate is dropped 9 minutes after its use")
	}
	sweep(11 * time.Minute)
	if same, _ := gateOf("https://ven.example/2"); same == good {
		t.Error("a gate is not dropped 11 minutes after its use")
	}
	if same, _ := gateOf("https://busy.example/2"); same != waiting {
		t.Error("the gate of a server that has asked to wait is dropped")
	}
	sweep(time.Hour)
	if same, _ := gateOf("https://busy.example/2"); same == waiting {
		t.Error("the gate of a server is not dropped after its wait")
	}
}

// An endpoint keeps its gate through its revisions. Another URL closes its breaker. A deletion
// drops its gate and its secrets, whoever notices it first.
func TestRegistry_ChangedEndpoint(t *testing.T) {
	list := func(r *target.Registry, v storage.View) error {
		_, _, err := r.List(v, "org", storage.EventPriceSignalUpdated)
		return err
	}
	get := func(r *target.Registry, v storage.View) error {
		_, err := r.Get(v, "org", "ep")
		return storage.IgnoreNotFound(err)
	}
	for name, look := range map[string]func(*target.Registry, storage.View) error{"list": list, "get": get, "sweep": (*target.Registry).Sweep} {
		s, _, _ := storagetest.NewStore(time.Now)
		storagetest.Put(t, s, &storage.Organization{ID: "org", Name: "Org"})
		registry := target.NewRegistry(open(t, s), gate.New(gate.Options{Concurrency: 8, EndpointConcurrency: 8, SlowSlices: 1, Now: time.Now}), time.Now)
		e := storage.NewWebhookEndpoint("org")
		e.ID, e.URL = "ep", "https://a.example/"
		storagetest.Put(t, s, &e)
		check := func(what string, look func(*target.Registry, storage.View) error, breakers, down int) {
			t.Helper()
			if err := s.View(func(v storage.View) error { return look(registry, v) }); err != nil {
				t.Fatal(err)
			}
			if got := registry.OpenBreakers(); len(got) != breakers || registry.Down(time.Now()) != down {
				t.Errorf("%s, %s: open breakers are %v, and %d down, want %d and %d", name, what, got, registry.Down(time.Now()), breakers, down)
			}
		}
		change := func(do func(*storage.WebhookEndpoint)) {
			t.Helper()
			if err := storage.UpdateEndpoint(t.Context(), s, "org", "ep", func(e *storage.WebhookEndpoint) error { do(e); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		wait := func() {
			t.Helper()
			var to *target.Target
			err := s.View(func(v storage.View) (err error) { to, err = registry.Get(v, "org", "ep"); return err })
			if err != nil {
				t.Fatal(err)
			}
			pass, err := to.Gate.Enter(t.Context(), func() int { return 1 })
			if err != nil {
				t.Fatal(err)
			}
			pass.Leave(gate.Report{Sent: true, Responded: true, RetryAfter: time.Hour})
		}
		wait()
		change(func(e *storage.WebhookEndpoint) { e.RateLimit = 7 })
		check("after a new rate limit", get, 1, 1)
		change(func(e *storage.WebhookEndpoint) { e.URL = "https://b.example/" })
		check("after a new URL", get, 0, 0)
		wait()
		err := s.Delete(t.Context(), e.Ref())
		if name == "sweep" { // nothing else notices an endpoint that leaves no trace
			_, err = s.EraseOrganization(t.Context(), "org")
		}
		if err != nil {
			t.Fatal(err)
		}
		check("after its deletion", look, 0, 0)
	}
}
