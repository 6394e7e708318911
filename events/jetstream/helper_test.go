package jetstream

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// patience is the timeout of every wait in a test.
const patience = time.Minute

var discard = slog.New(slog.DiscardHandler)

var streamOptions = Options{Replicas: 1, TriggersAge: 24 * time.Hour, ReceiptsAge: 24 * time.Hour}

// bus is a connection to the test's own server.
type bus struct {
	*Conn
	server *embedded.Server
	wire   *wire
}

// newBus starts a server in a folder and connects to it.
func newBus(t *testing.T, dir string) *bus {
	t.Helper()
	return newBusWith(t, dir, streamOptions)
}

// newBusWith is newBus with options.
func newBusWith(t *testing.T, dir string, o Options) *bus {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: dir, StartTimeout: patience, Log: discard})
	if err != nil {
		t.Fatal(err)
	}
	b := &bus{server: server, wire: newWire(t, server)}
	b.Conn, err = Connect(t.Context(), "", o, discard, nats.InProcessServer(b.wire))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.stop)
	return b
}

// stop ends the connection and the server. Only the first call counts.
func (b *bus) stop() {
	b.wire.release()
	_ = b.Close()
	_ = b.server.Stop(patience)
}

// within returns a context with the timeout patience.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// receive waits for a value.
func receive[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-within(t).Done():
		t.Fatal("timeout: no value received")
	}
	return v
}

// wire is the connection from the client to the server. Tests can cut it and delay its
// responses.
type wire struct {
	server nats.InProcessConnProvider

	mu    sync.Mutex
	hold  chan struct{} // nil without a delay
	until func() bool   // ends the delay, nil if only release does
	down  bool          // new connections fail
	open  []net.Conn
	sent  strings.Builder // the client's output
	more  chan struct{}   // closed, and replaced, at every write
}

func newWire(t *testing.T, server *embedded.Server) *wire {
	t.Helper()
	var o nats.Options
	if err := server.Option()(&o); err != nil {
		t.Fatal(err)
	}
	return &wire{server: o.InProcessServer, more: make(chan struct{})}
}

// InProcessConn opens a connection to the server.
func (w *wire) InProcessConn() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, net.ErrClosed
	}
	conn, err := w.server.InProcessConn()
	if err != nil {
		return nil, err
	}
	w.open = append(w.open, conn)
	return wired{conn, w}, nil
}

// cut breaks the open connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cutLocked()
}

func (w *wire) cutLocked() {
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// setDown sets whether new connections fail, and breaks the open connections.
func (w *wire) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down = down; down {
		w.cutLocked()
	}
}

// holdUp delays the server's output until release.
func (w *wire) holdUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold, w.until = make(chan struct{}), nil
}

// holdUntil delays the server's output until the client has written a text n more times.
func (w *wire) holdUntil(text string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n += strings.Count(w.sent.String(), text)
	w.hold, w.until = make(chan struct{}), func() bool { return strings.Count(w.sent.String(), text) >= n }
}

// release ends the delay.
func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.releaseLocked()
}

func (w *wire) releaseLocked() {
	if w.hold != nil {
		close(w.hold)
		w.hold, w.until = nil, nil
	}
}

// count returns how often the client has written a text.
func (w *wire) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.sent.String(), text)
}

// await waits until the client has written a text a number of times.
func (w *wire) await(t *testing.T, text string, times int) {
	t.Helper()
	for {
		w.mu.Lock()
		n, more := strings.Count(w.sent.String(), text), w.more
		w.mu.Unlock()
		if n >= times {
			return
		}
		receive(t, more)
	}
}

type wired struct {
	net.Conn
	w *wire
}

func (c wired) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.w.mu.Lock()
	hold := c.w.hold
	c.w.mu.Unlock()
	if hold != nil {
		<-hold
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		if !slices.Contains(c.w.open, c.Conn) {
			return 0, net.ErrClosed // cut during the delay
		}
	}
	return n, err
}

func (c wired) Write(p []byte) (int, error) {
	c.w.mu.Lock()
	c.w.sent.Write(p)
	close(c.w.more)
	c.w.more = make(chan struct{})
	if c.w.until != nil && c.w.until() {
		c.w.releaseLocked()
	}
	c.w.mu.Unlock()
	return c.Conn.Write(p)
}

var noon = time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)

func newTrigger(org string) events.Trigger {
	t := events.NewTrigger(org, pricing.Window{Start: noon, End: noon.Add(24 * time.Hour)}, noon)
	t.CreatedAt = storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)} // its receipts have not expired
	return t
}

func newSlice(t events.Trigger, number int) events.Slice {
	return events.Slice{Trigger: t, Sequence: 7, Number: number, After: "home_1"}
}

func newRetry(t events.Trigger, round int, due time.Time, homes ...string) events.Retry {
	r := events.Retry{Trigger: t, Sequence: 7, RetryInputs: events.RetryInputs{EndpointID: "ep"}, Attempt: 2, Round: round, DueAt: storage.Time{Time: due.UTC()}}
	for _, h := range homes {
		r.Homes = append(r.Homes, events.RetryHome{HomeID: h, Revision: 9})
	}
	r.Curves = []events.RetryCurve{{RatePlanID: "plan", Runs: []pricing.Run{{N: 96, Price: 0.1, Import: 0.1, Confidence: 1}}, ImportSource: "x"}}
	return r
}

func newReceipt(t events.Trigger, key string) events.Receipt {
	return events.Receipt{TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: key, Deliveries: []events.Delivery{{
		MessageID: events.MessageID(t.ID, "home_1", "ep"), HomeID: "home_1", EndpointID: "ep",
		Outcome: events.OutcomeDelivered, Attempt: 1, At: storage.Time{Time: noon}, Status: 200,
	}}}
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
