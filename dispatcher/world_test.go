package dispatcher

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/events/notifier"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// world is everything around workers, in memory and in the time of a bubble of
// synctest: a store, a bus, a ledger, and partners that answer.
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
	// clock is that of the workers which are started, nil for one that is right.
	clock func() time.Time
}

// inWorld runs a test in a world of its own.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		test(t, w)
	})
}

// inStore runs a test in a world whose time is that of the machine, for what goes over
// real connections.
func inStore(t *testing.T, test func(w *world)) {
	t.Helper()
	w := newWorld(t)
	defer w.end()
	test(w)
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, logger: discard, bus: newFakeBus(t), partner: newPartner(t), options: Options{Slices: 4, Concurrency: 16, EndpointConcurrency: 8, AllowPrivate: true}}
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

// remakeLedger begins a ledger anew, as when its file was lost.
func (w *world) remakeLedger() {
	if err := w.ledger.Close(); err != nil {
		w.t.Error(err)
	}
	w.ledger = w.openLedger()
}

var discard = slog.New(slog.DiscardHandler)

// end stops what runs and waits for it.
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

// endpoint stores an endpoint of the organization org, at a host that is its
// identifier.
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

func patience(seconds float64) func(*storage.WebhookEndpoint) {
	return func(e *storage.WebhookEndpoint) { e.RetryPolicy.GiveUpSeconds = seconds }
}

func homeID(i int) string { return fmt.Sprintf("home_%04d", i) }

// homes stores n homes of the organization org.
func (w *world) homes(n int) {
	w.t.Helper()
	list := make([]storage.Entity, n)
	for i := range list {
		list[i] = storagetest.Home("org", homeID(i), "plan")
	}
	storagetest.Put(w.t, w.store, list...)
}

func (w *world) delete(ref storage.Ref) {
	w.t.Helper()
	if err := w.store.Delete(w.t.Context(), ref); err != nil {
		w.t.Fatal(err)
	}
}

// neighbour stores another organization with an endpoint and n homes.
func (w *world) neighbour(n int) {
	w.t.Helper()
	e := storage.NewWebhookEndpoint("neighbour")
	e.ID, e.URL = "next-door", "http://next-door.example/hooks"
	e.Secrets = []storage.SealedSecret{{Sealed: w.vault.Seal("neighbour", e.ID, testSecret)}}
	list := []storage.Entity{&e}
	for i := range n {
		list = append(list, storagetest.Home("neighbour", homeID(i), "plan"))
	}
	storagetest.Put(w.t, w.store, list...)
}

// trigger accepts a trigger for the next hours, as the API does.
func (w *world) trigger(hours int) events.Trigger { return w.triggerOf("org", hours) }

func (w *world) triggerOf(org string, hours int, plans ...string) events.Trigger {
	now := time.Now()
	start := now.UTC().Truncate(pricing.Interval)
	t := events.NewTrigger(org, pricing.Window{Start: start, End: start.Add(time.Duration(hours) * time.Hour)}, now)
	_ = w.store.View(func(v storage.View) error {
		t.Revision, t.Homes = v.Revision(), v.Count(storage.KindHome, org)
		return nil
	})
	t.RatePlanIDs = plans
	return w.bus.accept(t)
}

// node is a running worker.
type node struct {
	*Worker
	conn    *busConn
	replica *storagetest.Replica
	stop    func() // gracefully
}

// worker starts a worker with a replica of its own, which dies where point says.
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
	n.Worker = New(Deps{
		Bus: n.conn, Store: storage.NewStore(w.log, replica, clock), Book: signals.NewBook(100), Vault: w.vault,
		Log: w.logger, Registerer: prometheus.NewRegistry(), Now: clock, Jitter: func() float64 { return 0.5 },
	}, w.options)
	n.sender.close()
	n.sender = newSenderOver(w.partner.dial, &tls.Config{MinVersion: tls.VersionTLS12}, 8)
	ctx, cancel := context.WithCancel(context.Background())
	n.conn.die = func() { cancel(); w.partner.hangUp(n) }
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("a worker ended with %v", err)
		}
	})
	w.nodes = append(w.nodes, n)
	return n
}

// settled waits until nothing is left to do, and returns what became of a
// trigger, as the ledger sees it.
func (w *world) settled(t events.Trigger) (events.Progress, []events.Delivery) {
	w.t.Helper()
	w.bus.await(w.bus.idleLocked)
	return w.seen(t)
}

// seen is what the ledger makes of the receipts that there are.
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

// wants checks that a trigger is completed with these outcomes, each home and
// endpoint with exactly one.
func (w *world) wants(t events.Trigger, want map[events.Outcome]int) []events.Delivery {
	w.t.Helper()
	p, list := w.settled(t)
	if p.Status != events.TriggerCompleted || fmt.Sprint(p.Outcomes) != fmt.Sprint(want) {
		w.t.Errorf("it is %s with %v, want it COMPLETED with %v", p.Status, p.Outcomes, want)
	}
	if twice := repeated(list); twice != "" {
		w.t.Errorf("%s has more than one outcome", twice)
	}
	return list
}

// repeated is a home and endpoint that a list has twice.
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

// arrival is a webhook that came to a partner.
type arrival struct {
	host, id, home string
	body           [sha256.Size]byte
	status         int
	at             time.Time
	openADR        bool
	kind           string // the event's type
	text           string // the body, where it is no signal
	sequence       uint64
	answered       time.Time
}

// partner answers for all hosts, and writes down what it got.
type partner struct {
	t      testing.TB
	server *http.Server
	conns  chan net.Conn
	done   chan error

	mu       sync.Mutex
	answer   func(r *http.Request, a arrival) int // 0 for a connection that breaks
	refuse   map[string]bool                      // hosts that do not accept connections
	others   map[string]http.Handler              // hosts that are no receivers
	arrivals []arrival
	batches  []batchArrival
	// whole answers a batch as a whole, unless its status is 0.
	whole func(r *http.Request, size int) (status int, answer string)
	open  map[*node][]net.Conn
}

func newPartner(t testing.TB) *partner {
	p := &partner{t: t, conns: make(chan net.Conn), done: make(chan error, 1), refuse: map[string]bool{}, others: map[string]http.Handler{}, open: map[*node][]net.Conn{}}
	p.answer = func(*http.Request, arrival) int { return http.StatusOK }
	p.server = &http.Server{Handler: p, ErrorLog: quiet}
	go func() { p.done <- p.server.Serve(p) }()
	return p
}

func (p *partner) close() {
	_ = p.server.Close()
	<-p.done
}

// answers sets how hosts answer.
func (p *partner) answers(answer func(r *http.Request, a arrival) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

func (p *partner) refuses(host string, refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse[host+".example:80"] = refuse
}

var errRefused = errors.New("connection refused")

func (p *partner) dial(ctx context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	refused := p.refuse[address]
	p.mu.Unlock()
	if refused {
		return nil, errRefused
	}
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hangUp is what the operating system does for a process that died.
func (p *partner) hangUp(n *node) { n.sender.close() }

// Accept, Close and Addr make the partner a net.Listener.
func (p *partner) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close ends Accept.
func (p *partner) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		p.refuse = nil
		close(p.conns)
	}
	return nil
}

// Addr is no address.
func (p *partner) Addr() net.Addr { return &net.UnixAddr{Name: "partner"} }

// hosts lets a host be something else than a receiver.
func (p *partner) hosts(host string, as http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others[host+".example"] = as
}

// ServeHTTP writes down what came and answers.
func (p *partner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	other := p.others[r.Host]
	p.mu.Unlock()
	if other != nil {
		other.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its sender died
	}
	sent := body
	if r.Header.Get("Content-Encoding") == "gzip" {
		body = inflate(p.t, sent)
	}
	host, id := strings.TrimSuffix(r.Host, ".example"), r.Header.Get("Webhook-Id")
	for _, form := range [][]byte{body, sent} {
		if err := verify(p.t, testSecret, id, r.Header.Get("Webhook-Timestamp"), r.Header.Get("Webhook-Signature"), form); err != nil {
			p.t.Errorf("a webhook does not verify: %v", err)
		}
	}
	var status int
	var answer string
	if bytes.HasPrefix(body, []byte(`{"type":"price_signal.batch"`)) {
		status, answer = p.takeBatch(r, host, id, body)
	} else {
		status = p.take(r, arrivalOf(host, id, body))[0].status
	}
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

func arrivalOf(host, id string, body []byte) arrival {
	_, rest, _ := strings.Cut(string(body), `"homeId":"`) // which is quicker than to decode it
	home, _, _ := strings.Cut(rest, `"`)
	a := arrival{host: host, id: id, home: home, body: sha256.Sum256(body), at: time.Now(), openADR: bytes.Contains(body, []byte(`"events":[`))}
	_, rest, _ = strings.Cut(string(body[:min(len(body), 100)]), `"type":"`)
	_, number, _ := strings.Cut(string(body[:min(len(body), 400)]), `"sequence":`)
	number, _, _ = strings.Cut(number, ",")
	a.sequence, _ = strconv.ParseUint(number, 10, 64) // a notice has none
	if a.kind, _, _ = strings.Cut(rest, `"`); a.kind != storage.EventPriceSignalUpdated {
		a.text, a.home = string(body), ""
	}
	return a
}

// take decides on messages that come together, each as if it came alone, and writes
// them down. Where the connection breaks for one it does for all.
func (p *partner) take(r *http.Request, together ...arrival) []arrival {
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	var all sync.WaitGroup
	for i := range together { // at once: one that is slow must not make a batch as slow as all
		a := &together[i]
		all.Go(func() { a.status, a.answered = answer(r, *a), time.Now() })
	}
	all.Wait()
	if slices.ContainsFunc(together, func(a arrival) bool { return a.status == 0 }) {
		for i := range together {
			together[i].status = 0
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrivals = append(p.arrivals, together...)
	return together
}

// takeBatch takes each message of a batch, as it would be alone, and tells what is
// not well.
func (p *partner) takeBatch(r *http.Request, host, id string, body []byte) (status int, answer string) {
	var batch struct {
		Timestamp time.Time
		Data      []json.RawMessage
	}
	if err := json.Unmarshal(body, &batch); err != nil || batch.Timestamp.IsZero() || len(batch.Data) == 0 {
		p.t.Errorf("a batch is %.200s: %v", body, err)
	}
	p.mu.Lock()
	p.batches = append(p.batches, batchArrival{host, id, len(batch.Data)})
	whole := p.whole
	p.mu.Unlock()
	if whole != nil {
		if status, answer := whole(r, len(batch.Data)); status != 0 {
			return status, answer
		}
	}
	together := make([]arrival, len(batch.Data))
	for i, data := range batch.Data {
		name, rest, _ := strings.Cut(strings.TrimPrefix(string(data), `{"webhookId":"`), `",`)
		together[i] = arrivalOf(host, name, []byte("{"+rest))
	}
	var results []map[string]any
	for _, a := range p.take(r, together...) {
		switch a.status {
		case 0:
			return 0, ""
		case http.StatusOK:
		default:
			results = append(results, map[string]any{"webhookId": a.id, "status": a.status, "reason": "not this one"})
		}
	}
	if results == nil {
		return http.StatusOK, "ok"
	}
	text, _ := json.Marshal(map[string]any{"results": results})
	return http.StatusOK, string(text)
}

// batchArrival is a batch that came to a partner.
type batchArrival struct {
	host, id string
	size     int
}

// got is what has arrived.
func (p *partner) got() []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.arrivals)
}

// checkMessages checks that each home and endpoint has one webhook-id and one
// body, and returns how often each was answered well. The homes that changed may
// have another body after a crash.
func (p *partner) checkMessages(changed map[string]bool) (delivered map[string]int) {
	p.t.Helper()
	type message struct {
		place string
		body  [sha256.Size]byte
	}
	byID := map[string]message{}
	delivered = map[string]int{}
	for _, a := range p.got() {
		m := message{a.home + " at " + a.host, a.body}
		if changed[a.home] {
			m.body = [sha256.Size]byte{}
		}
		if have, ok := byID[a.id]; ok && have != m {
			p.t.Errorf("%s is of %s and of %s, or has two bodies", a.id, have.place, m.place)
		}
		byID[a.id] = m
		if a.status == http.StatusOK {
			delivered[m.place]++
		}
	}
	return delivered
}

// notifier runs a notifier, and the ledger that it asks.
func (w *world) notifier() (stop func()) { return w.running(w.newNotifier().Run, w.follow) }

func (w *world) newNotifier() *notifier.Notifier {
	return notifier.New(notifier.Deps{
		Store: w.store, Ledger: w.ledger, Notices: w.bus, Log: discard, Registerer: prometheus.NewRegistry(), Now: time.Now,
	})
}

// resumer runs a resumer on a worker's connection, and the ledger that it asks.
func (w *world) resumer(n *node) (stop func()) { return w.running(w.newResumer(n).Run, w.follow) }

func (w *world) newResumer(n *node) *Resumer {
	return NewResumer(w.ledger, n.conn, discard, prometheus.NewRegistry(), time.Now)
}

// follow keeps the ledger up with the receipts.
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
