package httpclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

// post sends one request, and stores up to keep bytes of a failure's body.
func (t *Target) post(ctx context.Context, body []byte, keep int, headers ...Header) (*Response, error) {
	return t.Do(ctx, &Request{Body: body, Headers: headers, Keep: Keep{Failure: keep}}, &Timing{})
}

// newClient is a client whose connections are counted. MaxHeader is no multiple of the
// connection's buffer.
func newClient(t testing.TB, dials *atomic.Int64) *Client {
	c := New(Options{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		TLS: &tls.Config{MinVersion: tls.VersionTLS12}, HandshakeTimeout: time.Minute,
		MaxIdle: 4, IdleTimeout: time.Minute, MaxHeader: 4000, MaxBody: 8192, BodyTimeout: time.Minute,
	})
	t.Cleanup(c.Close)
	return c
}

func target(t testing.TB, c *Client, raw string) *Target {
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c.Target(TargetOptions{URL: u, Header: http.Header{"Content-Type": {"application/json"}, "X-Own": {"yes"}}, Organization: "org"})
}

// scripted is a server that reads a request and sends the bytes that script writes. It
// closes the connection when script returns false.
func scripted(t testing.TB, script func(n int, w io.Writer) bool) string {
	var n atomic.Int64
	return serve(t, func(conn net.Conn) {
		respond(conn, func(w io.Writer) bool { return script(int(n.Add(1)), w) })
	})
}

// serve starts a server, and returns a URL of it.
func serve(t testing.TB, connection func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go connection(conn)
		}
	}()
	return "http://" + l.Addr().String() + "/hooks?a=b"
}

// respond reads requests from a connection and has script write the responses, until
// script returns false.
func respond(conn net.Conn, script func(w io.Writer) bool) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil || !script(conn) {
			return
		}
	}
}

// patience returns a context that ends a request that hangs.
func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestPost_Request(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	var dials atomic.Int64
	to := target(t, newClient(t, &dials), server.URL+"/a%20b?c=d")
	for range 3 {
		answer, err := to.post(patience(t), []byte(`{"x":1}`), 100, Header{"Webhook-Id", "msg_1"})
		if err != nil || answer.Status != http.StatusTooManyRequests || answer.Header.Get("X-Answer") != "yes" {
			t.Fatalf("response %+v, %v", answer, err)
		}
	}
	if got.Method != http.MethodPost || got.RequestURI != "/a%20b?c=d" || got.Host != strings.TrimPrefix(server.URL, "http://") {
		t.Errorf("the request was %s %s to %s", got.Method, got.RequestURI, got.Host)
	}
	if string(body) != `{"x":1}` || got.ContentLength != 7 {
		t.Errorf("the body was %q of %d bytes", body, got.ContentLength)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Own": "yes", "Webhook-Id": "msg_1"} {
		if got.Header.Get(name) != want {
			t.Errorf("the header %s was %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections were opened for consecutive requests, want 1", n)
	}
}

// These are responses of all kinds, and whether the connection stays usable after each.
func TestPost_Responses(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	cases := []struct {
		name, answer string
		status       int
		body         string
		dials        int64 // for two requests
		fails        string
	}{
		{name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, dials: 1},
		{name: "empty", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200, dials: 1},
		{name: "a body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, dials: 1},
		{name: "chunks", answer: "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", status: 500, body: "abcde", dials: 1},
		{name: "closed after", answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", status: 200, dials: 2},
		{name: "HTTP/1.0", answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, dials: 2},
		{name: "more than was announced", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", status: 200, dials: 2},
		{name: "interim answers", answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200, dials: 1},
		{name: "a long refusal", answer: "HTTP/1.1 400 No\r\nContent-Length: 20000\r\n\r\n" + long, status: 400, body: long[:10], dials: 2},
		{name: "a redirect", answer: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", status: 302, dials: 1},
		{name: "too many interim answers", answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 6), fails: "interim", dials: 2},
		{name: "another protocol", answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", fails: "protocols", dials: 2},
		{name: "no HTTP", answer: "SSH-2.0-OpenSSH_9.6\r\n\r\n", fails: "malformed", dials: 2},
		{name: "long headers", answer: "HTTP/1.1 200 OK\r\nX-Long: " + long + "\r\n\r\n", fails: "headers are longer", dials: 2},
		{name: "two lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk", fails: "Content-Length", dials: 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var dials atomic.Int64
			to := target(t, newClient(t, &dials), scripted(t, func(_ int, w io.Writer) bool {
				_, err := io.WriteString(w, c.answer)
				return err == nil
			}))
			for range 2 {
				answer, err := to.post(patience(t), []byte("{}"), 10)
				switch {
				case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
					t.Fatalf("ended with %v, want %q", err, c.fails)
				case c.fails == "" && (err != nil || answer.Status != c.status || string(answer.Body) != c.body):
					t.Fatalf("response %+v, %v", answer, err)
				}
			}
			if n := dials.Load(); n != c.dials {
				t.Errorf("%d connections were made, want %d", n, c.dials)
			}
		})
	}
}

// A success with a truncated body differs from a whole one.
func TestPost_TruncatedBody(t *testing.T) {
	var dials atomic.Int64
	to := target(t, newClient(t, &dials), scripted(t, func(_ int, w io.Writer) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		return false
	}))
	answer, err := to.post(patience(t), []byte("{}"), 10)
	if answer == nil || answer.Status != 200 || err == nil {
		t.Errorf("response %+v, %v", answer, err)
	}
}

// A missing body costs BodyTimeout and the connection, not all of the request's time.
func TestPost_NoBody(t *testing.T) {
	var dials atomic.Int64
	c := newClient(t, &dials)
	c.options.BodyTimeout = 50 * time.Millisecond
	answered := make(chan struct{})
	defer close(answered)
	to := target(t, c, scripted(t, func(_ int, w io.Writer) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nhalf")
		<-answered
		return false
	}))
	for _, deadline := range []time.Time{{}, time.Now().Add(time.Minute)} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answer, err := to.Do(ctx, &Request{Body: []byte("{}"), Keep: Keep{Failure: 10}, Deadline: deadline}, &Timing{})
		if answer == nil || answer.Status != 500 || string(answer.Body) != "half" || err == nil || ctx.Err() != nil || !deadline.IsZero() && time.Now().After(deadline) {
			t.Errorf("response %+v, %v", answer, err)
		}
	}
}

// An idle connection that the other side closed costs only a new connection.
func TestPost_StaleConnection(t *testing.T) {
	var dials atomic.Int64
	closed := make(chan struct{}, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var bodies atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				bodies.Add(1)
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
			_ = conn.Close() // without an announcement
			closed <- struct{}{}
		}
	}()
	to := target(t, newClient(t, &dials), "http://"+l.Addr().String())
	for i := range 3 {
		answer, err := to.post(patience(t), []byte("{}"), 10)
		if err != nil || answer.Status != 200 {
			t.Fatalf("request %d: %+v, %v", i, answer, err)
		}
		<-closed
	}
	if dials.Load() != 3 || bodies.Load() != 3 {
		t.Errorf("%d connections and %d requests, want 3 of each", dials.Load(), bodies.Load())
	}
}

// After one stale connection a request takes a new one: all idle connections may be stale, such as
// after a restart of the other side.
func TestPost_StaleConnections(t *testing.T) {
	for _, response := range []string{fine, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"} {
		var dials, first atomic.Int64
		used, all := sync.Map{}, make(chan struct{})
		to := target(t, newClient(t, &dials), scripted(t, func(_ int, w io.Writer) bool {
			if _, again := used.LoadOrStore(w, true); again {
				return false
			}
			if first.Add(1) == maxTries {
				close(all)
			}
			<-all
			_, _ = io.WriteString(w, response)
			return true
		}))
		var burst sync.WaitGroup
		for range maxTries {
			burst.Go(func() {
				if _, err := to.post(patience(t), []byte("{}"), 10); err != nil {
					t.Error(err)
				}
			})
		}
		burst.Wait()
		if answer, err := to.post(patience(t), []byte("{}"), 10); err != nil || answer.Status != 200 || dials.Load() != maxTries+1 {
			t.Errorf("response %+v, %v, over %d connections", answer, err, dials.Load())
		}
	}
}

// A body that does not end costs no more than the request's deadline.
func TestPost_DeadlineInBody(t *testing.T) {
	var dials atomic.Int64
	hangs := make(chan struct{})
	defer close(hangs)
	to := target(t, newClient(t, &dials), scripted(t, func(_ int, w io.Writer) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 500 Broken\r\nContent-Length: 10\r\n\r\nhal")
		<-hangs
		return false
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer, err := to.Do(ctx, &Request{Body: []byte("{}"), Deadline: time.Now().Add(50 * time.Millisecond)}, &Timing{})
	if answer == nil || answer.Status != 500 || !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("response %+v, %v, and the context %v", answer, err, ctx.Err())
	}
}

// A request that gets no whole head until its deadline says so, and is sent once.
func TestPost_DeadlineInHead(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	for _, begin := range []string{"", "HTT", "HTTP/1.1 500 Bro", "HTTP/1.1 200 OK\r\nCont"} {
		var dials atomic.Int64
		to := target(t, newClient(t, &dials), scripted(t, func(n int, w io.Writer) bool {
			if n == 1 {
				_, err := io.WriteString(w, fine)
				return err == nil
			}
			_, _ = io.WriteString(w, begin)
			<-hangs
			return false
		}))
		if _, err := to.post(patience(t), []byte("{}"), 10); err != nil {
			t.Fatal(err)
		}
		answer, err := to.Do(patience(t), &Request{Body: []byte("{}"), Deadline: time.Now().Add(50 * time.Millisecond)}, &Timing{})
		if answer != nil || !errors.Is(err, os.ErrDeadlineExceeded) || dials.Load() != 1 {
			t.Errorf("after %q: response %+v, %v, over %d connections", begin, answer, err, dials.Load())
		}
	}
}

// endingConn has a response at once, together with the end of the connection, such as TLS has.
type endingConn struct {
	net.Conn
	response io.Reader
	asked    bool
}

func (c *endingConn) Write(p []byte) (int, error) { c.asked = true; return len(p), nil }

func (c *endingConn) Read(p []byte) (int, error) {
	if !c.asked {
		return 0, os.ErrDeadlineExceeded // the check before the request
	}
	return c.response.Read(p)
}

// A response counts even if the end of the connection arrives with it.
func TestPost_ResponseWithEnd(t *testing.T) {
	for _, status := range []int{200, 500} {
		c := newClient(t, new(atomic.Int64))
		c.options.Dial = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			t.Cleanup(func() { _ = theirs.Close() })
			response := fmt.Sprintf("HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: 3\r\n\r\nend", status)
			return &endingConn{Conn: ours, response: iotest.DataErrReader(strings.NewReader(response))}, nil
		}
		if answer, err := target(t, c, "http://x.example").post(patience(t), nil, 10); err != nil || answer.Status != status {
			t.Errorf("response %+v, %v, want the status %d", answer, err, status)
		}
	}
}

// cutConn cancels a request when its response arrives, and continues when the connection's
// deadline has passed.
type cutConn struct {
	endingConn
	cancel context.CancelFunc
	once   sync.Once
	cut    chan struct{}
	closed atomic.Bool
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.asked {
		c.once.Do(func() { c.cancel(); <-c.cut })
	}
	n, err := c.endingConn.Read(p)
	if c.asked && err != nil { // what is missing never arrives
		return c.Conn.Read(p)
	}
	return n, err
}

func (c *cutConn) SetDeadline(t time.Time) error {
	err := c.Conn.SetDeadline(t)
	if t.Equal(past) {
		select {
		case c.cut <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *cutConn) Close() error { c.closed.Store(true); return c.Conn.Close() }

// A request is canceled when its response arrives. It does not wait for the rest of a body. Its
// connection is not used again, because its deadline has passed.
func TestPost_CanceledAtResponse(t *testing.T) {
	for _, response := range []string{fine, refused, "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nhalf"} {
		for _, inTurn := range []bool{false, true} {
			ctx, cancel := context.WithCancel(patience(t))
			if inTurn {
				var done func() bool
				ctx, done = InTurn(ctx)
				defer done()
			}
			conn := &cutConn{cancel: cancel, cut: make(chan struct{}, 1)}
			c := newClient(t, new(atomic.Int64))
			c.options.Dial = func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				t.Cleanup(func() { _ = theirs.Close() })
				conn.endingConn = endingConn{Conn: ours, response: strings.NewReader(response)}
				return conn, nil
			}
			c.options.BodyTimeout = 10 * time.Second
			to, ends := target(t, c, "http://x.example"), time.Now().Add(c.options.BodyTimeout)
			answer, err := to.post(ctx, nil, 10)
			whole := response == fine || response == refused
			if answer == nil || whole != (err == nil) || !whole && !errors.Is(err, context.Canceled) || time.Now().After(ends) {
				t.Errorf("in turn %t: response %+v, %v", inTurn, answer, err)
			}
			if n := len(to.destination.idle); n != 0 || !conn.closed.Load() {
				t.Errorf("in turn %t: the connection is closed %t, and %d are idle", inTurn, conn.closed.Load(), n)
			}
		}
	}
}

// A new connection that is closed without a response is a failure: only a kept connection
// allows a retry.
func TestPost_NoResponse(t *testing.T) {
	var dials atomic.Int64
	to := target(t, newClient(t, &dials), scripted(t, func(int, io.Writer) bool { return false }))
	if answer, err := to.post(patience(t), []byte("{}"), 10); err == nil || !errors.Is(err, io.EOF) {
		t.Errorf("response %+v, %v", answer, err)
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections were opened, want 1", n)
	}
}

// A response may arrive before the request was read, for example from a server that
// refuses a body for its size. A body that exceeds the systems' buffers does not delay it. A
// connection that has not taken the whole request is not used again.
func TestPost_EarlyResponse(t *testing.T) {
	for _, response := range []string{"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", fine} {
		for size, wantDials := range map[int]int64{1000: 1, 16 << 20: 2} {
			done := make(chan struct{})
			defer close(done)
			url := serve(t, func(conn net.Conn) {
				defer conn.Close()
				for err := error(nil); err == nil; { // it reads no more than the beginning
					if _, err = conn.Read(make([]byte, 2000)); err == nil {
						_, err = io.WriteString(conn, response)
					}
					if size > 2000 {
						<-done
					}
				}
			})
			var dials atomic.Int64
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			to := target(t, newClient(t, &dials), url)
			for range 2 {
				answer, err := to.post(ctx, make([]byte, size), 10)
				if err != nil || !strings.Contains(response, strconv.Itoa(answer.Status)) {
					t.Errorf("%d bytes: response %+v, %v", size, answer, err)
				}
			}
			if n := dials.Load(); n != wantDials {
				t.Errorf("%d bytes: %d connections, want %d", size, n, wantDials)
			}
		}
	}
}

// A request ends with its context's deadline, even before it has a connection, and with
// its cancellation while it waits for the response.
func TestPost_Context(t *testing.T) {
	silent := make(chan struct{})
	defer close(silent)
	var dials atomic.Int64
	c := newClient(t, &dials)

	to := target(t, c, scripted(t, func(int, io.Writer) bool { <-silent; return false }))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := to.post(ctx, []byte("{}"), 10); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the timeout ended with %v", err)
	}

	asked := make(chan struct{})
	to = target(t, c, scripted(t, func(int, io.Writer) bool { close(asked); <-silent; return false }))
	ctx, cancel = context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := to.post(ctx, []byte("{}"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancellation ended with %v", err)
	}
}

func TestPost_TLS(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	server := httptest.NewTLSServer(handler)
	defer server.Close()
	var dials atomic.Int64
	c := newClient(t, &dials)
	if _, err := target(t, c, server.URL).post(patience(t), []byte("{}"), 10); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority's certificate ended with %v", err)
	}
	c.options.TLS.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	to := target(t, c, server.URL)
	dials.Store(0)
	for range 2 {
		if answer, err := to.post(patience(t), []byte("{}"), 10); err != nil || answer.Status != 200 {
			t.Fatalf("response %+v, %v", answer, err)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections were opened, want 1", n)
	}
}

// countedConn counts the writes that are longer than a handshake's.
type countedConn struct {
	net.Conn
	long *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	if len(p) >= 2<<10 {
		c.long.Add(1)
	}
	return c.Conn.Write(p)
}

// The first request of a connection is one TLS record, and so one write.
func TestPost_TLSRecords(t *testing.T) {
	server := secureServer(t, func(http.ResponseWriter, *http.Request) {}, protocolNames(alpnHTTP1))
	var dials, long atomic.Int64
	c := newClient(t, &dials)
	trust(c, server)
	dial := c.options.Dial
	c.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return countedConn{conn, &long}, err
	}
	if _, err := target(t, c, server.URL).post(patience(t), make([]byte, 8<<10), 0); err != nil {
		t.Fatal(err)
	}
	if n := long.Load(); n != 1 {
		t.Errorf("a request of 8 KB is %d writes, want 1", n)
	}
}

// take returns an idle connection, nil if there is none.
func take(d *destination) *http1Conn {
	c, _ := d.acquire(context.Background())
	return c
}

func named(address string) destinationKey {
	return destinationKey{organization: "org", address: address}
}

// The pool forgets a destination without connections and without targets: partners may
// register any number of them.
func TestPool_ForgetsDestinations(t *testing.T) {
	p := newPool(2, time.Hour)
	defer p.close()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	kept := newHTTP1Conn(ours, 10)
	p.destination(named("connected")).put(kept)
	target := p.destination(named("named"))
	for i := range 100 {
		p.destination(named(fmt.Sprint(i)))
	}
	runtime.GC()
	p.sweep()
	runtime.GC() // the sweep must not release the connected
	p.mu.Lock()
	remembered := len(p.destinations)
	p.mu.Unlock()
	if remembered != 2 || p.destination(named("named")) != target || take(p.destination(named("connected"))) != kept {
		t.Errorf("the pool has %d destinations, want the connected and the named", remembered)
	}
	p.destination(named("connected")).put(kept)
	for _, c := range p.expire(time.Now().Add(time.Hour)) {
		c.close()
	}
	runtime.GC()
	p.sweep()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.destinations) != 0 || len(p.retained) != 0 || len(p.owners) != 0 {
		t.Errorf("without connections and targets, the pool has %d destinations, %d retained, and %d owners", len(p.destinations), len(p.retained), len(p.owners))
	}
}

// Idle connections are limited in number and time, and Close closes them.
func TestPool_IdleLimits(t *testing.T) {
	p := newPool(2, time.Hour)
	place := p.destination(named("a"))
	if p.destination(named("a")) != place || p.destination(named("b")) == place {
		t.Fatal("destination differs for one name, or is shared by two")
	}
	var conns []*http1Conn
	for range 3 {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		conns = append(conns, newHTTP1Conn(ours, 10))
	}
	open := func(c *http1Conn) bool { return c.conn.SetDeadline(time.Time{}) == nil }
	for _, c := range conns {
		place.put(c)
	}
	if !open(conns[0]) || !open(conns[1]) || open(conns[2]) {
		t.Error("two connections are kept and the third is closed")
	}
	if take(place) != conns[1] {
		t.Error("the last used comes first")
	}
	place.put(conns[1])
	conns[0].lastUsed = time.Now().Add(-2 * time.Hour)
	p.sweep()
	if open(conns[0]) || !open(conns[1]) {
		t.Error("only the connection that idled too long is closed")
	}
	p.close()
	if open(conns[1]) || take(place) != nil {
		t.Error("Close closes the idle connections")
	}
	ours, theirs := net.Pipe()
	defer theirs.Close()
	late := newHTTP1Conn(ours, 10)
	place.put(late)
	if open(late) {
		t.Error("a connection that returns after Close is closed")
	}
	ours, theirs = net.Pipe()
	defer theirs.Close()
	later := newHTTP1Conn(ours, 10)
	p.destination(named("later")).put(later)
	if open(later) {
		t.Error("a connection to another destination after Close is closed")
	}
}

// With any response of the destination, a request ends soon.
func FuzzClient_Response(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	f.Add([]byte("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n"))
	f.Add([]byte("\x00\xff\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if r, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			_ = theirs.SetWriteDeadline(time.Now().Add(time.Second)) // it may not be read to its end
			_, _ = theirs.Write(raw)
		}()
		c := New(Options{
			Dial:    func(context.Context, string, string) (net.Conn, error) { return ours, nil },
			MaxIdle: 1, IdleTimeout: time.Minute, MaxHeader: 1024, MaxBody: 1024, BodyTimeout: time.Minute,
		})
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answer, err := target(t, c, "http://x.example").post(ctx, []byte("{}"), 64)
		if ctx.Err() != nil {
			t.Fatal("the request did not end")
		}
		if err == nil && (answer.Status < 200 || answer.Status > 999 || len(answer.Body) > 64) {
			t.Fatalf("response %+v", answer)
		}
	})
}

var quietLog = log.New(io.Discard, "", 0)
