package notifier

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// ago returns the time that long before the tests' clock.
func ago(d time.Duration) storage.Time { return storage.Time{Time: storagetest.Start.Add(-d)} }

// failing returns the health of an endpoint that has failed for a time.
func failing(lasted time.Duration, failures int) events.Health {
	return events.Health{
		State: events.HealthFailing, ConsecutiveFailures: failures, LastFailure: "HTTP 500", FailingSince: ago(lasted), LastFailureAt: ago(0),
	}
}

// recovered returns the health of an endpoint after an outage.
func recovered(lasted, since time.Duration) events.Health {
	return events.Health{State: events.HealthGood, LastOutage: &events.Outage{Since: ago(lasted + since), Until: ago(since), Failures: 31}}
}

// TestNotifier_Health stores a notice at a quarter and a half of disableAfterSeconds and
// after the recovery.
func TestNotifier_Health(t *testing.T) {
	const tolerates = 8 * time.Hour
	failingOnce, recoveredOnce := map[string]int{storage.EventEndpointFailing: 1}, map[string]int{storage.EventEndpointRecovered: 1}
	for name, tt := range map[string]struct {
		healths  []events.Health
		disables float64
		paused   bool
		want     map[string]int
	}{
		"less than a quarter":       {healths: []events.Health{failing(tolerates/4-1, 99)}, want: nil},
		"a quarter":                 {healths: []events.Health{failing(tolerates/4, 99), failing(tolerates/4, 100)}, want: failingOnce},
		"a half alone":              {healths: []events.Health{failing(tolerates/2, 99)}, want: failingOnce},
		"too few attempts":          {healths: []events.Health{failing(tolerates/2, storage.LeastFailures-1)}, want: nil},
		"paused":                    {healths: []events.Health{failing(tolerates/2, 99)}, paused: true, want: nil},
		"never disabled, a day":     {healths: []events.Health{failing(24*time.Hour, 99)}, disables: -1, want: nil},
		"never disabled, two days":  {healths: []events.Health{failing(48*time.Hour, 99)}, disables: -1, want: failingOnce},
		"recovered":                 {healths: []events.Health{recovered(tolerates/4, time.Minute), recovered(tolerates/4, time.Minute)}, want: recoveredOnce},
		"recovered from a short":    {healths: []events.Health{recovered(tolerates/4-1, time.Minute)}, want: nil},
		"recovered two days ago":    {healths: []events.Health{recovered(tolerates/4, 48*time.Hour)}, want: nil},
		"healthy without an outage": {healths: []events.Health{{State: events.HealthGood}}, want: nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			n, store := newNotifier(t, f)
			e := storage.NewWebhookEndpoint("org")
			e.ID, e.URL, e.Enabled, e.RetryPolicy.DisableAfterSeconds = "ep", "https://partner.example/", !tt.paused, max(tt.disables+1, 0)*tolerates.Seconds()
			e.CreatedAt, e.UpdatedAt = ago(1000*time.Hour), ago(1000*time.Hour)
			storagetest.Put(t, store, &e)
			for _, h := range tt.healths {
				h := sinceUpdate(t, store, h)
				f.health = map[storage.Ref]events.Health{e.Ref(): h, storage.KindWebhookEndpoint.Ref("org", "deleted"): h}
				for range 3 {
					if err := n.checkEndpoints(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !maps.Equal(f.types, tt.want) || f.puts != len(f.put) {
				t.Errorf("%v in %d puts, want %v", f.types, f.puts, tt.want)
			}
		})
	}
}

// sinceUpdate moves a failing health after the last update of its endpoint, because the
// store sets the time of an update.
func sinceUpdate(t *testing.T, s *storage.Store, h events.Health) events.Health {
	t.Helper()
	e, err := storage.Get[storage.WebhookEndpoint](s, storage.KindWebhookEndpoint.Ref("org", "ep"))
	if err != nil {
		t.Fatal(err)
	}
	if h.State == events.HealthFailing {
		lasted := h.LastFailureAt.Sub(h.FailingSince.Time)
		h.FailingSince, h.LastFailureAt = e.UpdatedAt, storage.Time{Time: e.UpdatedAt.Add(lasted)}
	}
	return h
}

// TestNotifier_FlappingEndpoint has an endpoint fail and recover ten times within one
// hour. People hear of it once.
func TestNotifier_FlappingEndpoint(t *testing.T) {
	f := &fake{}
	n, store := newNotifier(t, f)
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = "ep", "https://partner.example/", 600
	storagetest.Put(t, store, &e)
	hour := storagetest.Start.Truncate(time.Hour).Add(-time.Hour)
	for i := range 10 {
		since, until := hour.Add(time.Duration(i)*6*time.Minute), hour.Add(time.Duration(i)*6*time.Minute+3*time.Minute)
		h := events.Health{State: events.HealthGood, LastOutage: &events.Outage{Since: storage.Time{Time: since}, Until: storage.Time{Time: until}, Failures: 31}}
		f.health = map[storage.Ref]events.Health{e.Ref(): h}
		if err := n.checkEndpoints(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.types[storage.EventEndpointRecovered] != 1 {
		t.Errorf("%v, want one notice", f.types)
	}
}

// TestNotifier_TriggerFailures stores one notice an hour for an organization whose
// triggers end with failures above the share.
func TestNotifier_TriggerFailures(t *testing.T) {
	ended := func(i int, at time.Duration, outcomes map[events.Outcome]int) events.Progress {
		p := completed(i, at)
		p.Outcomes = outcomes
		return p
	}
	const rest = 90
	f := &fake{ended: []events.Progress{
		ended(1, 9*time.Hour, map[events.Outcome]int{events.OutcomeDelivered: rest, events.OutcomeFailed: 10}), // the share itself
		ended(2, 8*time.Hour, map[events.Outcome]int{}),
		ended(3, 7*time.Hour, map[events.Outcome]int{events.OutcomeDelivered: rest, events.OutcomeFailed: 5, events.OutcomeExpired: 6}),
		ended(4, 7*time.Hour, map[events.Outcome]int{events.OutcomeFailed: 100}), // the same hour
		ended(5, 5*time.Hour, map[events.Outcome]int{events.OutcomeUnpriceable: 100}),
	}}
	n, _ := newNotifier(t, f)
	n.FailureShare = 0.1
	if err := n.notifyCompleted(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{storage.EventTriggerCompleted: 5, storage.EventTriggerFailures: 2}; !maps.Equal(f.types, want) {
		t.Errorf("%v, want %v", f.types, want)
	}
}

// TestNotifier_Quotas stores one notice a day for each quota that is near.
func TestNotifier_Quotas(t *testing.T) {
	f := &fake{usage: map[string]events.Usage{
		"near": {Waiting: 8, Bytes: 799}, "both": {Waiting: 10, Bytes: 800}, "far": {Waiting: 7, Bytes: 799},
		"full": {},
	}}
	n, store := newNotifier(t, f)
	for org := range f.usage {
		storagetest.Put(t, store, &storage.Organization{ID: org, Name: org, Base: storage.Base{OrganizationID: storage.Shared}})
	}
	storagetest.Put(t, store, storagetest.Home("full", "home", "plan"))
	n.Quota = events.Quota{Waiting: 10, Bytes: 1000, Stored: 100}
	for range 3 {
		if err := n.checkQuotas(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.types[storage.EventQuotaNear] != 4 {
		t.Errorf("%v for %v, want 4", f.types, slices.Sorted(maps.Keys(f.put)))
	}
	n.Quota = events.Quota{}
	f.types = map[string]int{}
	if err := n.checkQuotas(t.Context()); err != nil || len(f.types) != 0 {
		t.Errorf("without limits %v, %v", f.types, err)
	}
}

// TestNotifier_RestartLosesNothing fails the store of notices. A new notifier stores them.
func TestNotifier_RestartLosesNothing(t *testing.T) {
	f := &fake{fail: 1}
	n, store := newNotifier(t, f)
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = "ep", "https://partner.example/", 3600
	storagetest.Put(t, store, &e)
	f.health = map[storage.Ref]events.Health{e.Ref(): recovered(time.Hour, time.Minute)}
	if err := n.checkEndpoints(t.Context()); err == nil || len(f.put) != 0 {
		t.Fatalf("%v with %v", err, f.put)
	}
	again := New(Deps{Store: store, Ledger: f, Notices: f, Log: n.Log, Registerer: prometheus.NewRegistry(), Now: n.Now})
	for range 2 {
		if err := again.checkEndpoints(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.types[storage.EventEndpointRecovered] != 1 || f.puts != 2 {
		t.Errorf("%v after %d puts", f.types, f.puts)
	}
}

// TestNotifier_RepeatsFailedPuts fails the store of a notice. The next check stores it.
func TestNotifier_RepeatsFailedPuts(t *testing.T) {
	long := failing(0, 99)
	long.FailingSince, long.LastFailureAt = ago(0), ago(-2*time.Hour)
	for name, tt := range map[string]struct {
		fake *fake
		do   func(*Notifier, context.Context) error
		want string
	}{
		"disabled":  {&fake{fail: 1, health: healthOf(long)}, (*Notifier).checkEndpoints, storage.EventEndpointDisabled},
		"recovered": {&fake{fail: 1, health: healthOf(recovered(time.Hour, time.Minute))}, (*Notifier).checkEndpoints, storage.EventEndpointRecovered},
		"failures": {&fake{fail: 2, ended: []events.Progress{
			{TriggerID: "trg_1", OrganizationID: "org", CompletedAt: ago(0), Outcomes: map[events.Outcome]int{events.OutcomeFailed: 1}},
		}}, (*Notifier).notifyCompleted, storage.EventTriggerFailures},
		"quota": {&fake{fail: 1, usage: map[string]events.Usage{"org": {Waiting: 10}}}, (*Notifier).checkQuotas, storage.EventQuotaNear},
	} {
		t.Run(name, func(t *testing.T) {
			f := tt.fake
			n, store := newNotifier(t, f)
			n.Quota = events.Quota{Waiting: 10}
			e := storage.NewWebhookEndpoint("org")
			e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = "ep", "https://partner.example/", 3600
			silent := &storage.OpenADRObject{ID: "sub_1", Type: storage.OpenADRSubscription, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"}}
			storagetest.Put(t, store, &e, silent) // a subscription without a callback
			if err := tt.do(n, t.Context()); !errors.Is(err, errDown) || f.types[tt.want] != 0 {
				t.Fatalf("the failed check stored %v and returned %v", f.types, err)
			}
			if err := tt.do(n, t.Context()); err != nil || f.types[tt.want] != 1 {
				t.Errorf("the next check stored %v and returned %v", f.types, err)
			}
		})
	}
}

// healthOf returns the health of endpoint ep.
func healthOf(h events.Health) map[storage.Ref]events.Health {
	return map[storage.Ref]events.Health{storage.KindWebhookEndpoint.Ref("org", "ep"): h}
}

// A restart does not repeat the notice of an endpoint that was disabled or began to fail long ago. The notices of a
// store that replaces another one are found although its revisions are smaller.
func TestNotifier_OldNotices(t *testing.T) {
	f := &fake{}
	n, store := newNotifier(t, f)
	for id, bears := range map[string]float64{"disabled": 3600, "failing": 10 * 3600, "recovered": 3600} {
		e := storage.NewWebhookEndpoint("org")
		e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = id, "https://partner.example/", bears
		storagetest.Put(t, store, &e)
	}
	long := events.Health{State: events.HealthFailing, ConsecutiveFailures: 99, FailingSince: ago(-time.Hour), LastFailureAt: ago(-4 * time.Hour)}
	f.health = map[storage.Ref]events.Health{
		storage.KindWebhookEndpoint.Ref("org", "disabled"):  long,
		storage.KindWebhookEndpoint.Ref("org", "failing"):   long,
		storage.KindWebhookEndpoint.Ref("org", "recovered"): recovered(time.Hour, time.Minute),
	}
	all := map[string]int{storage.EventEndpointDisabled: 1, storage.EventEndpointFailing: 1, storage.EventEndpointRecovered: 1}
	for _, tt := range []struct {
		name     string
		after    time.Duration
		revision uint64
		want     map[string]int
		repeats  int
	}{
		{"first check", 0, 0, all, 2},
		{"replaced store", 0, 1 << 40, all, 2},
		{"restart, long after", stale + 4*time.Hour, 0, map[string]int{}, 0},
	} {
		f.put, f.types = map[string]bool{}, map[string]int{}
		if tt.after == 0 {
			clear(n.repeats)
		}
		n.revision, n.Now = tt.revision, func() time.Time { return storagetest.Start.Add(tt.after) }
		if err := n.checkEndpoints(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(f.types, tt.want) || len(n.repeats) != tt.repeats {
			t.Errorf("%s: notices %v, want %v, and %d remembered", tt.name, f.types, tt.want, len(n.repeats))
		}
	}
}
