package dispatcher

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/dispatcher/resume"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// world is the environment of workers in the virtual time of a synctest bubble: a store,
// a bus, a ledger and partners.
type world struct {
	t       testing.TB
	bus     *fakeBus
	log     *storagetest.Log
	store   *storage.Store
	vault   *vault.Vault
	ledger  *ledger.Ledger
	partner *partner
	logger  *slog.Logger
	options Options
	nodes   []*node
	// wide reports whether triggers have wide slices, whatever the number of homes.
	wide bool
	// clock is the clock of started workers, nil for the correct clock.
	clock func() time.Time
	// jitter is the jitter of started workers, nil for half of each delay.
	jitter func() float64
}

// inWorld runs a test in a new world.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		test(t, w)
	})
}

// inStore runs a test in a world with the machine's time, for real connections.
func inStore(t *testing.T, test func(w *world)) {
	t.Helper()
	w := newWorld(t)
	defer w.end()
	test(w)
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, logger: discard, bus: newFakeBus(t), partner: newPartner(t), options: Options{Slices: 4, Concurrency: 16, EndpointConcurrency: 8, DrainTimeout: 30 * time.Second, Guard: send.Guard{AllowPrivate: true}}}
	var err error
	w.store, w.log, _ = storagetest.NewStore(time.Now)
	w.vault, err = vault.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	w.ledger = w.openLedger()
	storagetest.Put(t, w.store, &storage.Organization{ID: "org", Name: "Org", Base: storage.Base{OrganizationID: storage.Shared}},
		storagetest.RatePlan(storage.Shared, "plan", 0.25))
	return w
}

func (w *world) openLedger() *ledger.Ledger {
	l, err := ledger.Open(filepath.Join(w.t.TempDir(), "ledger.db"), ledger.Options{Keep: 1000 * time.Hour, Log: discard, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// remakeLedger starts a new ledger, as after the loss of its file.
func (w *world) remakeLedger() {
	if err := w.ledger.Close(); err != nil {
		w.t.Error(err)
	}
	w.ledger = w.openLedger()
}

var discard = slog.New(slog.DiscardHandler)

// end stops all running parts and waits for them.
func (w *world) end() {
	for _, n := range w.nodes {
		n.conn.kill()
		n.stop()
	}
	w.partner.close()
	if err := w.ledger.Close(); err != nil {
		w.t.Error(err)
	}
}

// endpoint stores an endpoint of the organization org. Its host is its identifier.
func (w *world) endpoint(id string, change ...func(*storage.WebhookEndpoint)) {
	w.t.Helper()
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL = id, "http://"+id+".example/hooks"
	e.Secrets = []storage.SealedSecret{{Sealed: w.vault.Seal("org", id, testSecret)}}
	for _, c := range change {
		c(&e)
	}
	storagetest.Put(w.t, w.store, &e)
}

// changeEndpoint changes an endpoint of the organization org.
func (w *world) changeEndpoint(id string, change func(*storage.WebhookEndpoint)) {
	w.t.Helper()
	_, err := storage.Update(w.t.Context(), w.store, storage.KindWebhookEndpoint.Ref("org", id), func(e *storage.WebhookEndpoint) error {
		change(e)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func patience(seconds float64) func(*storage.WebhookEndpoint) {
	return func(e *storage.WebhookEndpoint) { e.RetryPolicy.GiveUpSeconds = seconds }
}

// homeID returns identifiers in the order of their numbers. The store of the tests inserts
// records of another order slowly.
func homeID(i int) string { return fmt.Sprintf("home_%05d", i) }

// homes stores n homes of the organization org.
func (w *world) homes(n int) {
	w.t.Helper()
	list := make([]storage.Entity, n)
	for i := range list {
		list[i] = storagetest.Home("org", homeID(i), "plan")
	}
	storagetest.Put(w.t, w.store, list...)
}

// plan stores a shared rate plan.
func (w *world) plan(id string) {
	w.t.Helper()
	storagetest.Put(w.t, w.store, storagetest.RatePlan(storage.Shared, id, 0.25))
}

// changeHome changes a home of the organization org.
func (w *world) changeHome(id string, change func(*storage.Home)) {
	w.t.Helper()
	_, err := storage.Update(w.t.Context(), w.store, storage.KindHome.Ref("org", id), func(h *storage.Home) error { change(h); return nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(ref storage.Ref) {
	w.t.Helper()
	if err := w.store.Delete(w.t.Context(), ref); err != nil {
		w.t.Fatal(err)
	}
}

// neighbor stores another organization with an endpoint and n homes.
func (w *world) neighbor(n int) { w.organization("neighbor", "next-door", n) }

// organization stores an organization with an endpoint and n homes.
func (w *world) organization(org, endpoint string, n int, change ...func(*storage.WebhookEndpoint)) {
	w.t.Helper()
	e := storage.NewWebhookEndpoint(org)
	e.ID, e.URL = endpoint, "http://"+endpoint+".example/hooks"
	e.Secrets = []storage.SealedSecret{{Sealed: w.vault.Seal(org, e.ID, testSecret)}}
	for _, c := range change {
		c(&e)
	}
	list := []storage.Entity{&e}
	for i := range n {
		list = append(list, storagetest.Home(org, homeID(i), "plan"))
	}
	storagetest.Put(w.t, w.store, list...)
}

// trigger accepts a trigger for the next hours, as the API does.
func (w *world) trigger(hours int) events.Trigger { return w.triggerOf("org", hours) }

func (w *world) triggerOf(org string, hours int, plans ...string) events.Trigger {
	now := time.Now()
	start := now.UTC().Truncate(pricing.Interval)
	t := events.NewTrigger(org, pricing.Window{Start: start, End: start.Add(time.Duration(hours) * time.Hour)}, now)
	if err := w.store.View(func(v storage.View) error { return t.StartFrom(v, v.Count(storage.KindHome, org)) }); err != nil {
		w.t.Error(err)
	}
	t.Wide = w.wide
	t.RatePlanIDs = plans
	return w.bus.accept(t)
}

// node is a running worker.
type node struct {
	*Worker
	conn    *busConn
	replica *storagetest.Replica
	stop    func() // stops gracefully
}

// worker starts a worker with its own replica. It dies where point returns true.
func (w *world) worker(point ...func(at string) bool) *node {
	replica := w.log.Replica()
	n := &node{conn: &busConn{bus: w.bus}, replica: replica}
	if len(point) > 0 {
		n.conn.point = point[0]
	}
	clock := w.clock
	if clock == nil {
		clock = time.Now
	}
	jitter := w.jitter
	if jitter == nil {
		jitter = func() float64 { return 0.5 }
	}
	sender := send.New(send.Options{IdlePerDestination: 8, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if n.conn.isDead() { // a dead worker does not send, although its goroutines still run
			return nil, errRefused
		}
		return w.partner.dial(ctx, network, address)
	}})
	n.Worker = New(Deps{
		Bus: n.conn, Store: storage.NewStore(w.log, replica, clock), Pricer: signals.NewPricer(100), Vault: w.vault,
		Log: w.logger, Registerer: prometheus.NewRegistry(), Now: clock, Jitter: jitter, Sender: sender,
	}, w.options)
	ctx, cancel := context.WithCancel(context.Background())
	n.conn.die = func() { cancel(); w.partner.hangUp(n) }
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("worker ended with %v", err)
		}
	})
	w.nodes = append(w.nodes, n)
	return n
}

// settled waits until no work is left, and returns a trigger's progress in the ledger.
func (w *world) settled(t events.Trigger) (events.Progress, []events.Delivery) {
	w.t.Helper()
	w.bus.await(w.bus.idleLocked)
	return w.seen(t)
}

// seen returns a trigger's progress and deliveries from all receipts so far.
func (w *world) seen(t events.Trigger) (events.Progress, []events.Delivery) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.follow(ctx) }()
	synctest.Wait()
	cancel()
	if err := <-done; err != nil {
		w.t.Fatal(err)
	}
	p, err := w.ledger.Progress(t.OrganizationID, t.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	list, next, err := w.ledger.Deliveries(t.OrganizationID, events.DeliveryQuery{TriggerID: t.ID, Limit: 1_000_000})
	if err != nil || next != "" {
		w.t.Fatal(next, err)
	}
	return p, list
}

// wants checks that a trigger is COMPLETED with these outcomes, one for each home and
// endpoint.
func (w *world) wants(t events.Trigger, want map[events.Outcome]int) []events.Delivery {
	w.t.Helper()
	p, list := w.settled(t)
	if p.Status != events.TriggerCompleted || fmt.Sprint(p.Outcomes) != fmt.Sprint(want) {
		w.t.Errorf("trigger is %s with %v, want COMPLETED with %v", p.Status, p.Outcomes, want)
	}
	if twice := repeated(list); twice != "" {
		w.t.Errorf("%s has more than one outcome", twice)
	}
	return list
}

// repeated returns a home and endpoint that occur twice in a list, "" if there are none.
func repeated(list []events.Delivery) string {
	seen := map[string]bool{}
	for _, d := range list {
		place := d.HomeID + " at " + d.EndpointID
		if seen[place] {
			return place
		}
		seen[place] = true
	}
	return ""
}

// resumer runs a resumer on a worker's connection, and its ledger.
func (w *world) resumer(n *node) (stop func()) { return w.running(w.newResumer(n).Run, w.follow) }

func (w *world) newResumer(n *node) *resume.Resumer {
	return resume.New(w.ledger, n.conn, discard, prometheus.NewRegistry(), time.Now)
}

// follow updates the ledger with the receipts.
func (w *world) follow(ctx context.Context) error { return w.ledger.Follow(ctx, ledgerSource{w.bus}) }

// running runs parts until they are stopped.
func (w *world) running(parts ...func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, len(parts))
	for _, part := range parts {
		go func() { done <- part(ctx) }()
	}
	return func() {
		cancel()
		for range parts {
			if err := <-done; err != nil {
				w.t.Error(err)
			}
		}
	}
}
