package notifier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// fake is a ledger and a log of notices in memory.
type fake struct {
	changed  chan struct{}
	mu       sync.Mutex
	searches int // for completed triggers
	ended    []events.Progress
	health   map[storage.Ref]events.Health
	usage    map[string]events.Usage
	put      map[string]bool
	types    map[string]int // of the notices
	puts     int
	fail     int // after this number of puts
}

var errDown = errors.New("down")

func (f *fake) Changed() <-chan struct{} { return f.changed }

func (f *fake) Unnotified(limit int) ([]events.Progress, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.searches++
	return f.ended[:min(limit, len(f.ended))], nil
}

func (f *fake) MarkNotified(list []events.Progress) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = f.ended[len(list):]
	return nil
}

func (f *fake) EachHealth(do func(storage.Ref, events.Health)) error {
	for ref, h := range f.health {
		do(ref, h)
	}
	return nil
}

func (f *fake) Usage(org string) (events.Usage, error) { return f.usage[org], nil }

func (f *fake) PutNotice(_ context.Context, n events.Notice) (fresh bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.puts++; f.puts == f.fail {
		return false, errDown
	}
	if fresh = !f.put[n.ID]; fresh {
		f.types[n.Type]++
	}
	f.put[n.ID] = true
	return fresh, nil
}

func newNotifier(t *testing.T, f *fake) (*Notifier, *storage.Store) {
	now := func() time.Time { return storagetest.Start }
	store, _, _ := storagetest.NewStore(now)
	storagetest.Put(t, store, &storage.Organization{ID: "org", Name: "Org"})
	f.put, f.types = map[string]bool{}, map[string]int{}
	return New(Deps{
		Store: store, Ledger: f, Notices: f, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Now: now,
	}), store
}

// counters returns the values of a counter by its label.
func counters(t *testing.T, n *Notifier, name string) map[string]float64 {
	t.Helper()
	families, err := n.Registerer.(*prometheus.Registry).Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				values[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return values
}

// counted returns a counter's value, summed over its labels.
func counted(t *testing.T, n *Notifier, name string) (sum float64) {
	t.Helper()
	for _, value := range counters(t, n, name) {
		sum += value
	}
	return sum
}

// Every counter begins at 0. An alert on its increase would miss the first event otherwise.
func TestNotifier_CountersBeginAtZero(t *testing.T) {
	n, _ := newNotifier(t, &fake{})
	want := map[string][]string{"gridhook_notices_total": append(storage.ChannelEvents(), storage.EventTriggerCompleted), "gridhook_endpoints_disabled_total": nil}
	for _, r := range storage.DisabledReasons() {
		want["gridhook_endpoints_disabled_total"] = append(want["gridhook_endpoints_disabled_total"], string(r))
	}
	for name, labels := range want {
		got := counters(t, n, name)
		for _, label := range labels {
			if value, ok := got[label]; !ok || value != 0 {
				t.Errorf("%s of %q is %v", name, label, got)
			}
		}
	}
}

// A running notifier stores the notices of completed triggers, endpoints and quotas. It finds a
// completed trigger soon after a change of the ledger, and does not search all the time.
func TestNotifier_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{changed: make(chan struct{}), health: healthOf(recovered(time.Hour, time.Minute)), usage: map[string]events.Usage{"org": {Waiting: 10}}}
		n, store := newNotifier(t, f)
		n.Quota = events.Quota{Waiting: 10}
		e := storage.NewWebhookEndpoint("org")
		e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = "ep", "https://partner.example/", 3600
		storagetest.Put(t, store, &e)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- n.Run(ctx) }()
		<-time.After(checkEvery / 2)
		f.mu.Lock()
		searches := f.searches
		f.ended = append(f.ended, completed(1, 0))
		f.mu.Unlock()
		close(f.changed)
		<-time.After(2 * completedEvery)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := map[string]int{storage.EventTriggerCompleted: 1, storage.EventEndpointRecovered: 1, storage.EventQuotaNear: 1}
		if !maps.Equal(f.types, want) || searches != 1 {
			t.Errorf("notices %v, want %v; %d searches without a change", f.types, want, searches)
		}
	})
}

func completed(i int, ago time.Duration) events.Progress {
	return events.Progress{
		TriggerID: fmt.Sprintf("trg_%026d", i), OrganizationID: "org", Status: events.TriggerCompleted,
		CompletedAt: storage.Time{Time: storagetest.Start.Add(-ago)},
	}
}

// Every completion is notified once, whatever their number and the faults in between. Old
// completions and those of OpenADR notifications are not notified.
func TestNotifier_Completed(t *testing.T) {
	f := &fake{fail: maxCompleted + 10}
	for i := range maxCompleted + 50 {
		f.ended = append(f.ended, completed(i, time.Duration(i%2)*time.Hour))
	}
	notification := completed(8888, 0)
	notification.Notification = &events.Notification{}
	f.ended = append(f.ended, completed(9999, stale+time.Second), notification)
	n, _ := newNotifier(t, f)
	if err := n.notifyCompleted(t.Context()); !errors.Is(err, errDown) || len(f.ended) == 0 {
		t.Fatalf("%v, and %d are not notified", err, len(f.ended))
	}
	if err := n.notifyCompleted(t.Context()); err != nil || len(f.ended) != 0 {
		t.Errorf("%v, and %d are not notified", err, len(f.ended))
	}
	want := maxCompleted + 50
	if got := counted(t, n, "gridhook_notices_total"); len(f.put) != want || int(got) != want {
		t.Errorf("%d notices were put and %g counted, want %d", len(f.put), got, want)
	}
}

// An endpoint whose record does not decode hides no other endpoint.
func TestNotifier_DamagedEndpoint(t *testing.T) {
	health := events.Health{
		State: events.HealthFailing, ConsecutiveFailures: storage.LeastFailures, LastFailure: "HTTP 500",
		FailingSince: storage.Time{Time: storagetest.Start}, LastFailureAt: storage.Time{Time: storagetest.Start.Add(time.Hour)},
	}
	f := &fake{health: map[storage.Ref]events.Health{}}
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	n := New(Deps{
		Store: store, Ledger: f, Notices: f, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Now: store.Now,
	})
	f.put, f.types = map[string]bool{}, map[string]int{}
	storagetest.Put(t, store, &storage.Organization{ID: "org", Name: "Org"})
	for _, id := range []string{"a", "b", "c"} {
		e := storage.NewWebhookEndpoint("org")
		e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = id, "https://partner.example/", 60
		storagetest.Put(t, store, &e)
		f.health[e.Ref()] = health
	}
	damaged := storage.KindWebhookEndpoint.Ref("org", "b")
	was, err := log.Read(t.Context(), damaged)
	if err == nil {
		_, err = log.Append(t.Context(), storage.Write{Ref: damaged, Expect: was.Revision, At: storagetest.Start, Value: []byte(`{"id":7}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := n.checkEndpoints(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.put) != 2 {
		t.Errorf("%d notices, want those of the 2 other endpoints", len(f.put))
	}
}

// An endpoint that fails for longer than its policy allows is disabled, and counted once, by the
// notifier that stores its notice.
func TestNotifier_FailingEndpoints(t *testing.T) {
	const bears = 3600
	failing := func(failures int, lasted time.Duration) events.Health {
		return events.Health{
			State: events.HealthFailing, ConsecutiveFailures: failures, LastFailure: "HTTP 500",
			FailingSince: storage.Time{Time: storagetest.Start}, LastFailureAt: storage.Time{Time: storagetest.Start.Add(lasted)},
		}
	}
	for name, tt := range map[string]struct {
		health events.Health
		bears  float64
		want   bool
	}{
		"for as long":        {failing(10, bears*time.Second), bears, true},
		"not for so long":    {failing(1000, bears*time.Second-1), bears, false},
		"too few times":      {failing(9, 1000*time.Hour), bears, false},
		"never disabled":     {failing(1000, 1000*time.Hour), 0, false},
		"healthy since then": {events.Health{State: events.HealthGood, ConsecutiveFailures: 99}, bears, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{health: map[storage.Ref]events.Health{
				storage.KindWebhookEndpoint.Ref("org", "ep"): tt.health, storage.KindWebhookEndpoint.Ref("org", "deleted"): tt.health,
			}}
			n, store := newNotifier(t, f)
			e := storage.NewWebhookEndpoint("org")
			e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = "ep", "https://partner.example/", tt.bears
			storagetest.Put(t, store, &e)
			for range 3 {
				if err := n.checkEndpoints(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			e, err := storage.Get[storage.WebhookEndpoint](store, e.Ref())
			if err != nil || e.Enabled == tt.want || (e.Disabled != nil) != tt.want {
				t.Errorf("enabled: %v, %+v, %v", e.Enabled, e.Disabled, err)
			}
			other := New(Deps{Store: store, Ledger: f, Notices: f, Log: n.Log, Registerer: prometheus.NewRegistry(), Now: n.Now})
			if err := other.notifyDisabled(t.Context()); err != nil || counted(t, other, "gridhook_endpoints_disabled_total") != 0 {
				t.Errorf("another notifier counts it too: %v", err)
			}
			want := map[bool]int{true: 1}[tt.want]
			if got := counters(t, n, "gridhook_endpoints_disabled_total")[string(storage.DisabledFailing)]; int(got) != want || f.types[storage.EventEndpointDisabled] != want || f.puts != len(f.put)+want {
				t.Errorf("%g counted, and %v notices put in %d attempts, want %d", got, f.types, f.puts, want)
			}
		})
	}
}
