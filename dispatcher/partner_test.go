package dispatcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events/notifier"
	"github.com/gridhook/gridhook/storage"
)

// arrival is a webhook received by a partner.
type arrival struct {
	host, id, home string
	body           uint64 // its hash
	status         int
	at             time.Time
	openADR        bool
	kind           string // the event's type
	text           string // the body, except of a signal
	sequence       uint64
	answered       time.Time
}

// bodySeed is the seed of the hashes of bodies.
var bodySeed = maphash.MakeSeed()

// partner serves all hosts, and records its webhooks.
type partner struct {
	t      testing.TB
	server *http.Server
	conns  chan net.Conn
	done   chan error

	mu       sync.Mutex
	answer   func(r *http.Request, a arrival) int // 0 breaks the connection
	refuse   map[string]bool                      // hosts that do not accept connections
	others   map[string]http.Handler              // hosts that are not receivers
	arrivals []arrival
	batches  []batchArrival
	// whole responds to a batch as a whole, unless its status is 0.
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

// answers sets the function that responds to requests.
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

// hangUp closes a dead process's connections, like the operating system.
func (p *partner) hangUp(n *node) { n.Sender.Close() }

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

// Addr returns a placeholder.
func (p *partner) Addr() net.Addr { return &net.UnixAddr{Name: "partner"} }

// hosts sets the handler of a host that is not a receiver.
func (p *partner) hosts(host string, as http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others[host+".example"] = as
}

// ServeHTTP records the webhook and responds.
func (p *partner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	other := p.others[r.Host]
	p.mu.Unlock()
	if other != nil {
		other.ServeHTTP(w, r)
		return
	}
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return // the sender died
	}
	forms := [][]byte{body}
	if r.Header.Get("Content-Encoding") == "gzip" {
		body = inflate(p.t, body)
		forms = append(forms, body)
	}
	host, id := strings.TrimSuffix(r.Host, ".example"), r.Header.Get("Webhook-Id")
	for _, form := range forms {
		if err := verify(p.t, testSecret, id, r.Header.Get("Webhook-Timestamp"), r.Header.Get("Webhook-Signature"), form); err != nil {
			p.t.Errorf("webhook does not verify: %v", err)
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
	_, rest, _ := bytes.Cut(body, []byte(`"homeId":"`)) // faster than decoding it
	home, _, _ := bytes.Cut(rest, []byte(`"`))
	a := arrival{host: host, id: id, home: string(home), body: maphash.Bytes(bodySeed, body), at: time.Now(), openADR: bytes.Contains(body, []byte(`"events":[`))}
	_, rest, _ = bytes.Cut(body[:min(len(body), 100)], []byte(`"type":"`))
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	_, number, _ := bytes.Cut(body[:min(len(body), 400)], []byte(`"sequence":`))
	number, _, _ = bytes.Cut(number, []byte(","))
	a.sequence, _ = strconv.ParseUint(string(number), 10, 64) // a notice has none
	if a.kind = string(kind); a.kind != storage.EventPriceSignalUpdated && a.kind != storage.EventOpenADRUpdated {
		a.text, a.home = string(body), ""
	}
	return a
}

// take decides on each message separately and records it. If the connection breaks for
// one message, it breaks for all.
func (p *partner) take(r *http.Request, together ...arrival) []arrival {
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	var all sync.WaitGroup
	for i := range together { // at the same time: a batch is as slow as its slowest message
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

// takeBatch takes each message of a batch separately, and returns the results that are
// not 2xx.
func (p *partner) takeBatch(r *http.Request, host, id string, body []byte) (status int, answer string) {
	var batch struct {
		Timestamp time.Time
		Data      []json.RawMessage
	}
	if err := json.Unmarshal(body, &batch); err != nil || batch.Timestamp.IsZero() || len(batch.Data) == 0 {
		p.t.Errorf("batch %.200s: %v", body, err)
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

// batchArrival is a batch received by a partner.
type batchArrival struct {
	host, id string
	size     int
}

// got returns the recorded webhooks.
func (p *partner) got() []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.arrivals)
}

// checkMessages checks that each home and endpoint has one webhook-id and one body. It
// returns the number of good responses per home and endpoint. After a crash, a changed
// home may have a different body.
func (p *partner) checkMessages(changed map[string]bool) (delivered map[string]int) {
	p.t.Helper()
	type message struct {
		place string
		body  uint64
	}
	byID := map[string]message{}
	delivered = map[string]int{}
	for _, a := range p.got() {
		m := message{a.home + " at " + a.host, a.body}
		if changed[a.home] {
			m.body = 0
		}
		if have, ok := byID[a.id]; ok && have != m {
			p.t.Errorf("message %s belongs to %s and %s, or has two bodies", a.id, have.place, m.place)
		}
		byID[a.id] = m
		if a.status == http.StatusOK {
			delivered[m.place]++
		}
	}
	return delivered
}

// notifier runs a notifier and its ledger.
func (w *world) notifier() (stop func()) { return w.running(w.newNotifier().Run, w.follow) }

func (w *world) newNotifier() *notifier.Notifier {
	return notifier.New(notifier.Deps{
		Store: w.store, Ledger: w.ledger, Notices: w.bus, Log: discard, Registerer: prometheus.NewRegistry(), Now: time.Now,
	})
}
