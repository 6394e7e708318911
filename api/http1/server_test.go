package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// served is a server under test.
type served struct {
	*Server
	address string
	// rest counts the connections that net/http has seen.
	rest atomic.Int64
	done chan error
}

// serve serves a handler on loopback until the test ends.
func serve(t testing.TB, handler http.HandlerFunc, configure ...func(*http.Server)) *served {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serveOn(l, handler, configure...)
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func serveOn(l net.Listener, handler http.HandlerFunc, configure ...func(*http.Server)) *served {
	s := &served{address: l.Addr().String(), done: make(chan error, 1)}
	config := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.rest.Add(1)
			}
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	for _, c := range configure {
		c(config)
	}
	s.Server = Over(config)
	go func() { s.done <- s.Serve(l) }()
	return s
}

// asker is a client that writes and reads bytes.
type asker struct {
	net.Conn
	in *bufio.Reader
	t  testing.TB
}

func (s *served) dial(t testing.TB) *asker {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return newAsker(t, conn)
}

func newAsker(t testing.TB, conn net.Conn) *asker {
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return &asker{conn, bufio.NewReader(conn), t}
}

func (a *asker) send(raw string) {
	a.t.Helper()
	if _, err := io.WriteString(a, raw); err != nil {
		a.t.Fatal(err)
	}
}

// answer reads the next answer and its body.
func (a *asker) answer() (*http.Response, string) {
	a.t.Helper()
	r, err := http.ReadResponse(a.in, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return r, string(body)
}

// ended wants the server to have closed the connection.
func (a *asker) ended() {
	a.t.Helper()
	if b, err := a.in.ReadByte(); err == nil {
		a.t.Errorf("the connection goes on with %q", b)
	}
}

func post(path, body string, headers ...string) string {
	head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

// echo answers with all that it sees of a request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var headers []string
	for name, values := range r.Header {
		headers = append(headers, fmt.Sprintf("%s=%q", name, values))
	}
	slices.Sort(headers)
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("X-Path", r.URL.Path)
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, "%s %s %s %s %q\n%s\n%d %v %t %q %v %v\n", r.Method, r.RequestURI, r.Proto, r.Host, r.URL.String(),
		strings.Join(headers, "\n"), r.ContentLength, r.TransferEncoding, r.Close, body, err, r.RemoteAddr != "")
}

var dateLine = regexp.MustCompile(`Date: [^\r]+ GMT\r\n`)

// all sends bytes and returns all that comes back, in the order of its lines, without dates.
func all(t *testing.T, address string, pieces ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a := newAsker(t, conn)
	for _, piece := range pieces {
		a.send(piece)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	got, err := io.ReadAll(conn)
	if err != nil && len(got) == 0 {
		return "closed"
	}
	lines := strings.Split(dateLine.ReplaceAllString(string(got), ""), "\r\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Whatever comes, it is answered as by net/http alone.
func TestAnswersAsNetHTTP(t *testing.T) {
	lean := serve(t, echo)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	alone := &http.Server{Handler: http.HandlerFunc(echo), ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = alone.Serve(l) }()
	t.Cleanup(func() { _ = alone.Close() })
	for name, sent := range map[string][]string{
		"one":                       {post("/a/b", "{}")},
		"no body":                   {"POST / HTTP/1.1\r\nHost: x\r\n\r\n"},
		"several":                   {post("/a", "{}"), post("/b", "{}"), post("/c", "[1]", "X-A: 1", "X-A: 2")},
		"at once":                   {post("/a", "1") + post("/b", "22") + post("/c", "333")},
		"in pieces":                 {post("/a", "{}")[:20], post("/a", "{}")[20:60], post("/a", "{}")[60:]},
		"byte by byte":              strings.Split(post("/a", "{}"), ""),
		"a line after the body":     {post("/a", "{}") + "\r\n" + post("/b", "{}")},
		"lines after the body":      {post("/a", "{}") + "\r\n\r\n" + post("/b", "{}")},
		"too many lines":            {post("/a", "{}") + "\r\n\r\n\r\n" + post("/b", "{}")},
		"a line before":             {"\r\n" + post("/a", "{}")},
		"closed in strange words":   {post("/a", "{}", "Connection: a close") + post("/b", "{}")},
		"kept alive":                {post("/a", "{}", "Connection: Keep-Alive") + post("/b", "{}")},
		"another method":            {"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"},
		"another method after":      {post("/a", "{}") + "PUT /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx" + post("/c", "{}")},
		"an escaped path":           {post("/%61%2Fb?c=%20", "{}")},
		"chunks":                    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n" + post("/b", "")},
		"chunks and a length":       {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + post("/b", "")},
		"a large body":              {post("/a", strings.Repeat("x", 10_000)), post("/b", "{}")},
		"a large head":              {post("/a", "{}", "X-A: "+strings.Repeat("x", 10_000)), post("/b", "{}")},
		"just too large":            {post("/a", strings.Repeat("x", most-80)), post("/b", "{}")},
		"closed":                    {post("/a", "{}", "Connection: close") + post("/b", "{}")},
		"HTTP/1.0":                  {"POST /a HTTP/1.0\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"},
		"expected":                  {post("/a", "{}", "Expect: 100-continue")},
		"an unknown expectation":    {post("/a", "{}", "Expect: more")},
		"no host":                   {"POST / HTTP/1.1\r\n\r\n"},
		"two hosts":                 {"POST / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"},
		"a wrong host":              {"POST / HTTP/1.1\r\nHost: x y\r\n\r\n"},
		"a wrong length":            {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n"},
		"two lengths":               {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"},
		"a wrong header":            {post("/a", "{}", "X A: b")},
		"a folded line":             {post("/a", "{}", "X-A: b\r\n c")},
		"a null":                    {post("/a", "{}", "X-A: \x00")},
		"an unfinished body":        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"},
		"an unfinished head":        {"POST / HTTP/1.1\r\nHost: x\r\n"},
		"an unfinished line":        {"POST"},
		"nothing":                   {},
		"no HTTP":                   {"\x16\x03\x01\x02\x00\x01\x00"},
		"another protocol":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		"a good one, then nonsense": {post("/a", "{}") + "nonsense\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := all(t, lean.address, sent...), all(t, l.Addr().String(), sent...)
			if got != want {
				t.Errorf("answered\n%s\nwhere net/http answers\n%s", got, want)
			}
		})
	}
}

// net/http sees nothing of a connection until something else than a plain request comes,
// and all of it from then on.
func TestConnectionsAreHandedOver(t *testing.T) {
	s := serve(t, echo)
	a := s.dial(t)
	for i := range 3 {
		a.send(post(fmt.Sprintf("/a%d", i), "{}"))
		if r, _ := a.answer(); r.Header.Get("X-Path") != fmt.Sprintf("/a%d", i) || s.rest.Load() != 0 {
			t.Fatalf("the answer is %+v, net/http has %d connections", r.Header, s.rest.Load())
		}
	}
	for _, raw := range []string{"GET /b HTTP/1.1\r\nHost: x\r\n\r\n", post("/c", "{}")} {
		a.send(raw)
		if r, _ := a.answer(); r.StatusCode != http.StatusAccepted || s.rest.Load() != 1 {
			t.Fatalf("the answer is %+v, net/http has %d connections", r.Header, s.rest.Load())
		}
	}
}

// Nothing of a request or of its answer is left for the next.
func TestRequestsAreApart(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Form != nil || len(w.Header()) > 0 || r.Pattern != "" {
			t.Errorf("%s begins with %v %v %q", r.URL.Path, r.Form, w.Header(), r.Pattern)
		}
		_ = r.ParseForm()
		r.Pattern, r.URL.RawQuery = "x", "x"
		if r.URL.Path == "/first" {
			w.Header().Set("X-First", "yes")
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "a long answer")
		}
	})
	a := s.dial(t)
	a.send(post("/first", "") + post("/second", ""))
	if r, body := a.answer(); r.StatusCode != http.StatusTeapot || body != "a long answer" || r.Header.Get("X-First") == "" {
		t.Errorf("the first answer is %+v %q", r, body)
	}
	if r, body := a.answer(); r.StatusCode != http.StatusOK || body != "" || r.Header.Get("X-First") != "" {
		t.Errorf("the second answer is %+v %q", r, body)
	}
}

func TestAnswersAreWritten(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		status  int
		body    string
		header  string // X-A
		ends    bool
	}{
		"nothing": {func(http.ResponseWriter, *http.Request) {}, 200, "", "", false},
		"a body":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }, 200, "x", "", false},
		"a wrong length": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "7")
			w.WriteHeader(201)
		}, 201, "", "", false},
		"no content":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, "", "", false},
		"a second status":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200) }, 404, "", "", false},
		"an interim answer": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(404) }, 404, "", "", false},
		"a header":          {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-A", "b"); w.WriteHeader(200) }, 200, "", "b", false},
		"a header too late": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); w.Header().Set("X-A", "b") }, 200, "", "", false},
		"a split header":    {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-A", "b\r\nX-B: c") }, 200, "", "b  X-B: c", false},
		"the end":           {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }, 200, "", "", true},
		"much": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1000))
			}
		}, 200, strings.Repeat("x", 100_000), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := serve(t, test.handler).dial(t)
			a.send(post("/", "{}"))
			r, body := a.answer()
			if r.StatusCode != test.status || body != test.body || r.Header.Get("X-A") != test.header || r.Header.Get("X-B") != "" {
				t.Errorf("answered %+v %.50q", r, body)
			}
			if at, err := http.ParseTime(r.Header.Get("Date")); err != nil || time.Since(at).Abs() > time.Minute {
				t.Errorf("it is of %q", r.Header.Get("Date"))
			}
			if test.ends {
				a.ended()
				return
			}
			a.send(post("/", "{}"))
			a.answer()
		})
	}
}

// A handler that panics loses its connection, and nothing else.
func TestPanics(t *testing.T) {
	var logged strings.Builder
	var mu sync.Mutex
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/panics":
			panic("on purpose")
		case "/aborts":
			panic(http.ErrAbortHandler)
		}
	}, func(c *http.Server) { c.ErrorLog = log.New(locked{&mu, &logged}, "", 0) })
	for _, path := range []string{"/panics", "/aborts"} {
		a := s.dial(t)
		a.send(post(path, "{}"))
		a.ended()
	}
	a := s.dial(t)
	a.send(post("/", "{}"))
	a.answer()
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(logged.String(), "panic serving"); n != 1 || !strings.Contains(logged.String(), "on purpose") {
		t.Errorf("logged is %q", logged.String())
	}
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// Who is refused before all was read can read why: the connection ends after the answer,
// and is not reset.
func TestRefusalsAreRead(t *testing.T) {
	s := serve(t, echo, func(c *http.Server) { c.MaxHeaderBytes = 1 << 10 })
	a := s.dial(t)
	a.send("GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("x", 30_000))
	got, err := io.ReadAll(a.in)
	if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 431") {
		t.Errorf("answered %.40q, %v", got, err)
	}
}
