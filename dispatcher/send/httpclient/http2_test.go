package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// secureServer serves TLS as configured, with the HTTP versions that its protocols name.
func secureServer(t testing.TB, handler http.HandlerFunc, configure func(*httptest.Server)) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.EnableHTTP2 = true
	configure(s)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// trust makes a client trust a server's certificate.
func trust(c *Client, s *httptest.Server) {
	c.options.TLS.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
}

func targetOver(t testing.TB, c *Client, raw string, protocol Protocol, organization string) *Target {
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c.Target(TargetOptions{URL: u, Header: http.Header{"X-Own": {"yes"}}, Protocol: protocol, Organization: organization})
}

// protocolNames are the protocols that a server announces.
func protocolNames(names ...string) func(*httptest.Server) {
	return func(s *httptest.Server) {
		s.TLS.NextProtos = names
		s.EnableHTTP2 = slices.Contains(names, alpnHTTP2)
		if !s.EnableHTTP2 {
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetHTTP1(true)
		}
	}
}

// refusing makes a server refuse clients, in the handshake, that do not offer a protocol.
func refusing(name string) func(*httptest.Server) {
	return func(s *httptest.Server) {
		s.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if slices.Contains(hello.SupportedProtos, name) {
				return nil, nil
			}
			refuses := s.TLS.Clone()
			refuses.NextProtos = []string{"other"}
			return refuses, nil
		}
	}
}

func TestClient_Protocols(t *testing.T) {
	for _, c := range []struct {
		name      string
		protocol  Protocol
		configure func(*httptest.Server)
		want      string
		dials     int64
	}{
		{"auto, both offered", Auto, protocolNames(alpnHTTP2, alpnHTTP1), "HTTP/1.1", 1},
		{"auto, HTTP/1.1 refused", Auto, refusing(alpnHTTP2), "HTTP/2.0", 2},
		{"auto, HTTP/2 only", Auto, protocolNames(alpnHTTP2), "HTTP/2.0", 2},
		{"auto, no protocol chosen", Auto, func(s *httptest.Server) { protocolNames("")(s); s.TLS.NextProtos = nil }, "HTTP/1.1", 1},
		{"1.1, both offered", HTTP1, protocolNames(alpnHTTP2, alpnHTTP1), "HTTP/1.1", 1},
		{"1.1, HTTP/1.1 refused", HTTP1, refusing(alpnHTTP2), "", 2},
		{"2, both offered", HTTP2, protocolNames(alpnHTTP1, alpnHTTP2), "HTTP/1.1", 1},
		{"2, preferred", HTTP2, protocolNames(alpnHTTP2, alpnHTTP1), "HTTP/2.0", 1},
		{"2, HTTP/1.1 only", HTTP2, protocolNames(alpnHTTP1), "HTTP/1.1", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := secureServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }, func(s *httptest.Server) {
				c.configure(s)
				s.Config.ErrorLog = quietLog
			})
			var dials atomic.Int64
			client := newClient(t, &dials)
			trust(client, s)
			dial := client.options.Dial
			var conns []*atomic.Int64
			client.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				conns = append(conns, new(atomic.Int64))
				return closingConn{conn, conns[len(conns)-1]}, err
			}
			to := targetOver(t, client, s.URL, c.protocol, "org")
			for range 2 {
				response, err := to.Do(patience(t), &Request{Body: []byte("{}"), Keep: Keep{Success: 10}}, &Timing{})
				if c.want == "" {
					if !errors.Is(err, ErrTLS) {
						t.Fatalf("%+v, %v", response, err)
					}
					continue
				}
				if err != nil || string(response.Body) != c.want {
					t.Fatalf("%+v, %v, want %s", response, err, c.want)
				}
			}
			if n := dials.Load(); n != c.dials {
				t.Errorf("%d connections, want %d", n, c.dials)
			}
			client.Close()
			for i, closed := range conns {
				until(t, fmt.Sprintf("connection %d stays open", i), func() bool { return closed.Load() > 0 })
			}
		})
	}
}

// Organizations share no connection, over either protocol. One organization's endpoints
// do.
func TestPool_PerOrganization(t *testing.T) {
	for _, protocol := range []Protocol{HTTP1, HTTP2} {
		s := secureServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) }, func(*httptest.Server) {})
		var dials atomic.Int64
		client := newClient(t, &dials)
		trust(client, s)
		ask := func(to *Target) string {
			response, err := to.Do(patience(t), &Request{Body: []byte("{}"), Keep: Keep{Success: 100}}, &Timing{})
			if err != nil {
				t.Fatal(err)
			}
			return string(response.Body)
		}
		a, b, other := targetOver(t, client, s.URL+"/a", protocol, "one"), targetOver(t, client, s.URL+"/b", protocol, "one"), targetOver(t, client, s.URL+"/a", protocol, "two")
		first := ask(a)
		if got := ask(b); got != first {
			t.Errorf("protocol %d: another endpoint of the organization used connection %s, want %s", protocol, got, first)
		}
		if got := ask(other); got == first {
			t.Errorf("protocol %d: another organization used connection %s as well", protocol, got)
		}
		runtime.KeepAlive(a)
	}
}

// Many simultaneous requests share a few connections, with at most the server's limit of
// streams on each.
func TestHTTP2_SharesConnections(t *testing.T) {
	const most, requests = 5, 200
	var mu sync.Mutex
	active := map[string]int{}
	s := secureServer(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		active[r.RemoteAddr]++
		if n := active[r.RemoteAddr]; n > most {
			t.Errorf("%d streams at a time on one connection", n)
		}
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		active[r.RemoteAddr]--
		mu.Unlock()
	}, func(s *httptest.Server) { s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: most} })
	var dials atomic.Int64
	client := newClient(t, &dials)
	trust(client, s)
	to := targetOver(t, client, s.URL, HTTP2, "org")
	var wg sync.WaitGroup
	for range requests {
		wg.Go(func() {
			if response, err := to.Do(patience(t), &Request{Body: make([]byte, 3000)}, &Timing{}); err != nil || response.Status != 200 {
				t.Errorf("%+v, %v", response, err)
			}
		})
	}
	wg.Wait()
	// A request that was refused before the limit was known lets net/http open another
	// connection.
	if n := dials.Load(); n < 1 || int(n) > 3*maxHTTP2Conns {
		t.Errorf("%d connections", n)
	}
}

// Requests share a connection until it has streamsPerConn of them, and then one more. If
// another connection fails, the requests continue on the first.
func TestHTTP2_SecondConnection(t *testing.T) {
	var mu sync.Mutex
	active := map[string]int{}
	asked, answer := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	defer release()
	s := secureServer(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		active[r.RemoteAddr]++
		mu.Unlock()
		asked <- struct{}{}
		<-answer
	}, protocolNames(alpnHTTP2))
	var dials atomic.Int64
	client := newClient(t, &dials)
	trust(client, s)
	dial := client.options.Dial
	client.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil && dials.Load() == 2 {
			err = errors.Join(conn.Close(), errors.New("too many connections"))
		}
		return conn, err
	}
	to := targetOver(t, client, s.URL, HTTP2, "org")
	var wg sync.WaitGroup
	for n := range 3 * streamsPerConn {
		wg.Go(func() {
			if response, err := to.post(patience(t), []byte("{}"), 0); err != nil || response.Status != 200 {
				t.Errorf("%+v, %v", response, err)
			}
		})
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatalf("request %d hangs", n+1)
		}
		mu.Lock()
		conns := len(active)
		mu.Unlock()
		if want := 1 + min(1, n/(streamsPerConn+1)); conns != want {
			t.Errorf("%d requests use %d connections, want %d", n+1, conns, want)
		}
	}
	release()
	wg.Wait()
	for from, n := range active {
		if n != 3*streamsPerConn/2 {
			t.Errorf("%d requests over the connection %s, want half of all", n, from)
		}
	}
	for _, c := range to.destination.shared.conns {
		if n := c.active.Load(); n != 0 {
			t.Errorf("%d requests are counted after their end", n)
		}
	}
	if n := dials.Load(); n != 3 {
		t.Errorf("%d connections were opened, want 3 with the failed", n)
	}
}

// A server that ends each connection after a request (GOAWAY) costs connections, not
// requests.
func TestHTTP2_GoAway(t *testing.T) {
	s := secureServer(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }, func(*httptest.Server) {})
	var dials atomic.Int64
	client := newClient(t, &dials)
	trust(client, s)
	to := targetOver(t, client, s.URL, HTTP2, "org")
	for range 50 {
		if response, err := to.Do(patience(t), &Request{Body: make([]byte, 3000)}, &Timing{}); err != nil || response.Status != 200 {
			t.Fatalf("%+v, %v", response, err)
		}
	}
	if n := dials.Load(); n < 2 {
		t.Errorf("%d connections: the server ended none", n)
	}
	if n := client.pool.shared.Load(); n > 1 {
		t.Errorf("the pool counts %d connections after the server ended them", n)
	}
}

// Close ends idle connections now, a connection in use after its request, and a connection that is
// being opened.
func TestHTTP2_Close(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	closed := make(chan struct{}, 1)
	s := secureServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- struct{}{}
			<-answer
		}
	}, func(s *httptest.Server) {
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				select {
				case closed <- struct{}{}:
				default: // the server has the mutex that its Close needs
				}
			}
		}
	})
	for _, path := range []string{"/", "/slow", "/opening"} {
		client := newClient(t, new(atomic.Int64))
		trust(client, s)
		dial := client.options.Dial
		client.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if path == "/opening" {
				client.Close()
			}
			return dial(ctx, network, address)
		}
		to := targetOver(t, client, s.URL+path, HTTP2, "org")
		done := make(chan error, 1)
		go func() {
			_, err := to.Do(patience(t), &Request{Body: []byte("{}")}, &Timing{})
			done <- err
		}()
		switch path {
		case "/":
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			client.Close()
		case "/opening":
			<-done // it may fail
		default:
			<-asked
			client.Close()
			close(answer)
			if err := <-done; err != nil {
				t.Errorf("a request in flight ended with %v", err)
			}
		}
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Errorf("%s: the connection is open", path)
		}
	}
}

// HTTP/2 connections are closed after the timeout too. The pool knows them without a target, and
// forgets their destination afterwards.
func TestHTTP2_IdleTimeout(t *testing.T) {
	closed := make(chan struct{}, 1)
	s := secureServer(t, func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) {
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				select {
				case closed <- struct{}{}:
				default: // the server has the mutex that its Close needs
				}
			}
		}
	})
	patient := newClient(t, new(atomic.Int64))
	trust(patient, s)
	o := patient.options
	o.IdleTimeout = 100 * time.Millisecond
	for name, c := range map[string]*Client{"timeout": New(o), "none": patient} {
		defer c.Close()
		if _, err := targetOver(t, c, s.URL, HTTP2, "org").post(patience(t), []byte("{}"), 0); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		if name == "none" {
			if c.pool.expire(time.Time{}); len(c.pool.destinations) != 1 {
				t.Error("the pool forgot a destination with a connection")
			}
			continue
		}
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("the connection stays open")
		}
		until(t, "the pool keeps the destination", func() bool {
			runtime.GC()
			c.pool.mu.Lock()
			defer c.pool.mu.Unlock()
			return len(c.pool.destinations) == 0 && len(c.pool.retained) == 0
		})
		if n := c.pool.shared.Load(); n != 0 {
			t.Errorf("the pool counts %d connections", n)
		}
	}
}

// After a connection attempt that failed, the next request makes another attempt.
func TestHTTP2_ConnectFailure(t *testing.T) {
	var dials atomic.Int64
	client := newClient(t, &dials)
	refused := errors.New("refused")
	client.options.Dial = nil
	dial := func() (*http2Conn, error) { dials.Add(1); return nil, refused }
	d := client.pool.destination(named("x"))
	for want := range int64(3) {
		if _, err := d.shared.acquire(t.Context(), dial); !errors.Is(err, refused) || dials.Load() != want+1 {
			t.Errorf("%v after %d attempts", err, dials.Load())
		}
	}
}

// Requests that wait for a connection attempt share its failure. They do not share the deadline or
// the cancellation of the request that made the attempt, and end with their own.
func TestHTTP2_SharedAttempt(t *testing.T) {
	own := errors.New("own attempt failed")
	for attempt, want := range map[error]error{errors.New("refused"): nil, context.Canceled: own, context.DeadlineExceeded: own} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(2, time.Hour)
			defer p.close()
			d := p.destination(named("x"))
			end, failures := make(chan struct{}), make(chan error, 10)
			begin := func(ctx context.Context, dial func() (*http2Conn, error)) {
				go func() {
					_, err := d.shared.acquire(ctx, dial)
					failures <- err
				}()
				synctest.Wait()
			}
			begin(t.Context(), func() (*http2Conn, error) { <-end; return nil, attempt })
			waiting := func() (*http2Conn, error) { return nil, own }
			ctx, cancel := context.WithCancel(t.Context())
			begin(ctx, waiting)
			cancel()
			if err := <-failures; !errors.Is(err, context.Canceled) {
				t.Errorf("a canceled request ends with %v", err)
			}
			for range 3 {
				begin(t.Context(), waiting)
			}
			close(end)
			if err := <-failures; !errors.Is(err, attempt) {
				t.Errorf("the attempt ends with %v, want %v", err, attempt)
			}
			for range 3 {
				if err := <-failures; !errors.Is(err, cmp.Or(want, attempt)) {
					t.Errorf("%v: a request that waited ends with %v", attempt, err)
				}
			}
		})
	}
}

// A request over HTTP/2 has the headers and the body of a request over HTTP/1.1. It ends at its
// deadline, and a body that does not end costs BodyTimeout. The client reads no body beyond MaxBody.
// All of that leaves the connection to later requests. Headers beyond MaxHeader are an error.
func TestHTTP2_Request(t *testing.T) {
	hangs, ended := make(chan struct{}), make(chan struct{})
	defer close(hangs)
	s := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch string(body) {
		case "no end":
			w.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(w).Flush()
			<-hangs
		case "no response":
			<-hangs
		case "long headers":
			w.Header().Set("X-Long", strings.Repeat("x", 20_000))
		case "no end of the body":
			for err := error(nil); err == nil; {
				_, err = w.Write(body)
			}
			close(ended)
			return
		}
		if int64(len(body)) != r.ContentLength {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Header().Set("Retry-After", "7")
		fmt.Fprint(w, r.Proto, " ", r.Host, r.RequestURI, " ", r.Header.Get("X-Own"), " ", r.Header.Get("Webhook-Id"), " ", r.ContentLength, " ", string(body))
	}, protocolNames(alpnHTTP2))
	var dials atomic.Int64
	c := newClient(t, &dials)
	trust(c, s)
	to := targetOver(t, c, s.URL+"/hook?a=b", HTTP2, "org")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	post := func(body string, deadline time.Time) (*Response, error) {
		return to.Do(ctx, &Request{Body: []byte(body), Headers: []Header{{"Webhook-Id", "msg_1"}}, Keep: Keep{Success: 100}, Deadline: deadline}, &Timing{})
	}
	want := "HTTP/2.0 " + strings.TrimPrefix(s.URL, "https://") + "/hook?a=b yes msg_1 4 body"
	if response, err := post("body", time.Time{}); err != nil || string(response.Body) != want || response.Header.Get("Retry-After") != "7" {
		t.Errorf("response %+v, %v, want %s", response, err, want)
	}
	if response, err := post(strings.Repeat("x", 2<<20), time.Time{}); err != nil || response.Status != http.StatusOK {
		t.Errorf("response %+v, %v to a body of several frames", response, err)
	}
	if response, err := post("no end of the body", time.Time{}); err != nil || len(response.Body) != 100 {
		t.Errorf("response %+v, %v, want the beginning of the body", response, err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
		t.Error("the destination still sends the body")
	}
	if response, err := post("no response", time.Now().Add(50*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("response %+v, %v, want the end of the deadline", response, err)
	}
	c.options.BodyTimeout = 50 * time.Millisecond
	if response, err := post("no end", time.Time{}); err == nil || response == nil || response.Status != http.StatusInternalServerError {
		t.Errorf("response %+v, %v, want one whose body is cut off", response, err)
	}
	if ctx.Err() != nil || dials.Load() != 1 {
		t.Errorf("%d connections, and the context has %v", dials.Load(), ctx.Err())
	}
	if response, err := post("long headers", time.Time{}); err == nil {
		t.Errorf("the headers are longer than the limit, and the response is %+v", response)
	}
}

// A used connection that a server closes without a response costs a new connection. The first
// request of a connection then fails: the server may have processed it.
func TestHTTP2_StaleConnection(t *testing.T) {
	var requests atomic.Int64
	var closing sync.WaitGroup
	var closeAt atomic.Int64
	var s *httptest.Server
	s = secureServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == closeAt.Load() {
			closing.Go(s.CloseClientConnections)
			<-r.Context().Done()
		}
	}, protocolNames(alpnHTTP2))
	defer closing.Wait()
	for _, first := range []bool{false, true} {
		var dials atomic.Int64
		c := newClient(t, &dials)
		trust(c, s)
		to := targetOver(t, c, s.URL, HTTP2, "org")
		if !first {
			if _, err := to.post(patience(t), []byte("{}"), 10); err != nil {
				t.Fatal(err)
			}
		}
		closeAt.Store(requests.Load() + 1)
		response, err := to.post(patience(t), []byte("{}"), 10)
		if failed := err != nil; failed != first || dials.Load() != map[bool]int64{false: 2, true: 1}[first] {
			t.Errorf("first request of its connection %v: response %+v, %v, over %d connections", first, response, err, dials.Load())
		}
	}
}
