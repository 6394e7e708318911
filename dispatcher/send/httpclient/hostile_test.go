package httpclient

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// The hostile suite runs a scripted receiver against net/http's Transport and against
// this client, and compares the outcome of each request. This client may be stricter: it
// may fail where net/http has a response, and drop a connection that net/http reuses.
// It must never take a response for a success, or reuse a connection, where net/http
// does not.
//
// Some races remain, as they do for net/http. Data that arrives after the check, while
// the next request is being written, counts as that request's response: HTTP/1.1 has
// nothing that ties a response to a request. The same holds for the end of a TLS record
// whose beginning arrived before the check. Only the organization that owns the
// endpoint can be deceived so, since organizations do not share connections.

// step is what a receiver does next on its first connection.
type step struct {
	kind  stepKind
	texts []string // of write: each is a TLS record, all are one write to the network
}

type stepKind int

const (
	read      stepKind = iota // read a request
	readByte                  // read the next byte only
	write                     // write texts
	idle                      // wait until the client has no request under way
	hang                      // do nothing more until the client closes the connection
	half                      // close the direction to the client
	closing                   // close the connection
	reset                     // close it with a RST
	ticket                    // over TLS: write a session ticket
	keyUpdate                 // over TLS: announce the next key
)

func send(texts ...string) step { return step{kind: write, texts: texts} }
func do(kind stepKind) step     { return step{kind: kind} }

// hostile is a receiver. After its steps it responds to further requests with 500, and to
// every request on further connections with 503. Both differ from the script's responses.
type hostile struct {
	name  string
	steps []step
	tls   bool
	// body is the length of the requests' bodies, 2 by default.
	body int
	// keeps demands that the connection is reused, and single that one request is sent.
	keeps, single bool
}

const (
	honest = "HTTP/1.1 500 Honest\r\nContent-Length: 0\r\n\r\n"
	second = "HTTP/1.1 503 Honest\r\nContent-Length: 0\r\n\r\n"
)

// outcome is the result of a request.
type outcome struct {
	status int // 0 if there was no response
	cut    bool
	reused bool // the request came on a connection that had served another request
	err    error
}

func (o outcome) delivered() bool { return o.status >= 200 && o.status <= 299 && !o.cut }

// poster sends one request, and reports the response's status and whether its body was
// cut off.
type poster func(ctx context.Context, url *url.URL, body []byte) (status int, cut bool, err error)

// stage is one run of a script.
type stage struct {
	listener    net.Listener
	certificate *tls.Certificate
	h           *hostile
	t           testing.TB

	mu        sync.Mutex
	changed   *sync.Cond
	completed int         // requests of the client
	passed    int         // idle steps that the receiver has gone past
	blocked   bool        // the receiver waits for the client to write
	served    map[int]int // requests by connection
	last      int         // the connection of the last request
	serving   sync.WaitGroup
	accepted  []net.Conn
	dialed    []net.Conn
}

func newStage(t testing.TB, h *hostile, certificate *tls.Certificate) *stage {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{listener: l, certificate: certificate, h: h, t: t, served: map[int]int{}}
	s.changed = sync.NewCond(&s.mu)
	s.serving.Go(func() {
		for n := 1; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.accepted = append(s.accepted, conn)
			s.mu.Unlock()
			s.serving.Go(func() { s.serve(n, conn) })
		}
	})
	return s
}

func (s *stage) close() {
	_ = s.listener.Close()
	s.mu.Lock()
	s.completed = 1 << 20
	s.changed.Broadcast()
	for _, c := range append(s.accepted, s.dialed...) {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// update changes the stage and wakes those that wait.
func (s *stage) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.changed.Broadcast()
}

// wait waits until a condition holds.
func (s *stage) wait(condition func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !condition() {
		s.changed.Wait()
	}
}

// peer is one connection of the receiver.
type peer struct {
	conn   net.Conn
	reader *bufio.Reader
	secure *recordWriter // nil without TLS
}

func (s *stage) serve(n int, conn net.Conn) {
	p := &peer{conn: conn, reader: bufio.NewReader(conn)}
	defer conn.Close()
	if n == 1 {
		defer s.update(func() { s.passed = 1 << 20 })
	}
	if s.h.tls {
		in, w, err := handshake(s.t, conn, *s.certificate)
		if err != nil {
			return
		}
		p.reader, p.secure = bufio.NewReader(in), w
	}
	answer := second
	if n == 1 {
		answer = honest
		idles := 0
		for i, step := range s.h.steps {
			if step.kind == idle {
				idles++
				s.wait(func() bool { return s.completed >= idles })
			}
			if !s.play(n, p, step) {
				return
			}
			if i+1 == len(s.h.steps) || s.h.steps[i+1].kind <= readByte || s.h.steps[i+1].kind == idle || s.h.steps[i+1].kind == hang {
				s.update(func() { s.passed = idles })
			}
		}
	}
	for s.play(n, p, do(read)) && s.play(n, p, send(answer)) {
	}
}

// play does one step, and reports whether the connection goes on.
func (s *stage) play(n int, p *peer, step step) bool {
	switch step.kind {
	case read:
		s.update(func() { s.blocked = n == 1 })
		r, err := http.ReadRequest(p.reader)
		s.received(n, err)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, r.Body)
		return err == nil
	case readByte:
		s.update(func() { s.blocked = n == 1 })
		_, err := p.reader.ReadByte()
		s.received(n, err)
		return err == nil
	case write:
		return p.write(step.texts) == nil
	case hang:
		_, _ = p.conn.Read(make([]byte, 1))
		s.wait(func() bool { return s.completed > 0 })
		return false
	case half:
		return p.conn.(*net.TCPConn).CloseWrite() == nil
	case reset:
		_ = p.conn.(*net.TCPConn).SetLinger(0)
		return false
	case closing:
		return false
	case ticket:
		return p.secure.ticket() == nil
	case keyUpdate:
		return p.secure.keyUpdate() == nil
	case idle:
	}
	return true
}

// received notes that a request came over a connection, if there was no error.
func (s *stage) received(n int, err error) {
	s.update(func() {
		s.blocked = false
		if err == nil {
			s.served[n]++
			s.last = n
		}
	})
}

func (p *peer) write(texts []string) error {
	var all []byte
	for _, text := range texts {
		if p.secure != nil {
			all = append(all, p.secure.record(recordApplication, []byte(text))...)
		} else {
			all = append(all, text...)
		}
	}
	_, err := p.conn.Write(all)
	return err
}

// run sends requests one after another and returns their outcomes.
func (s *stage) run(send poster, settle func(), timeout time.Duration) (outcomes []outcome) {
	u := &url.URL{Scheme: "http", Host: s.listener.Addr().String(), Path: "/"}
	if s.h.tls {
		u.Scheme = "https"
	}
	idles := 0
	for _, step := range s.h.steps {
		if step.kind == idle {
			idles++
		}
	}
	requests := max(2, idles+1)
	if s.h.single {
		requests = 1
	}
	for i := range requests {
		ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
		s.update(func() { s.last = 0 })
		var o outcome
		o.status, o.cut, o.err = send(ctx, u, bytes.Repeat([]byte("x"), max(2, s.h.body)))
		cancel()
		s.update(func() {
			o.reused = s.last != 0 && s.served[s.last] > 1
			s.completed = i + 1
		})
		outcomes = append(outcomes, o)
		if i < idles {
			s.wait(func() bool { return s.passed > i || s.blocked })
			s.mu.Lock()
			played := s.passed > i
			s.mu.Unlock()
			if played {
				settle()
			}
		}
	}
	return outcomes
}

// dial connects, and remembers the connection.
func (s *stage) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		s.update(func() { s.dialed = append(s.dialed, conn) })
	}
	return conn, err
}

// Bounds on responses, the same for both clients.
const (
	hostileHeader = 4096
	hostileBody   = 8192
)

func (s *stage) tlsConfig() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if s.certificate != nil {
		parsed, err := x509.ParseCertificate(s.certificate.Certificate[0])
		if err != nil {
			s.t.Fatal(err)
		}
		c.RootCAs.AddCert(parsed)
	}
	return c
}

// runOurs plays the script for this package's client.
func (h *hostile) runOurs(t testing.TB, certificate *tls.Certificate, timeout time.Duration) []outcome {
	s := newStage(t, h, certificate)
	defer s.close()
	c := New(Options{
		Dial: s.dial, TLS: s.tlsConfig(), HandshakeTimeout: time.Minute, MaxIdle: 4, IdleTimeout: time.Minute,
		MaxHeader: hostileHeader, MaxBody: hostileBody, BodyTimeout: timeout,
	})
	defer c.Close()
	send := func(ctx context.Context, u *url.URL, body []byte) (int, bool, error) {
		target := c.Target(TargetOptions{URL: u, Organization: "org"})
		response, err := target.Do(ctx, &Request{Body: body, Keep: Keep{Success: 64, Failure: 64}}, &Timing{})
		if response == nil {
			return 0, false, err
		}
		runtime.KeepAlive(target)
		return response.Status, err != nil, err
	}
	return s.run(send, s.arrived, timeout)
}

// arrived waits until what the receiver did has reached the client's socket.
func (s *stage) arrived() { s.untilClosed(readable) }

// untilClosed waits until the client has closed its first connection, or a condition
// holds of it.
func (s *stage) untilClosed(or func(fd uintptr) bool) {
	s.mu.Lock()
	dialed := s.dialed
	s.mu.Unlock()
	if len(dialed) == 0 {
		return
	}
	raw, err := dialed[0].(*net.TCPConn).SyscallConn()
	for done := false; err == nil && !done; runtime.Gosched() {
		err = raw.Control(func(fd uintptr) { done = or(fd) })
	}
}

// runNetHTTP plays the script for net/http's Transport. It may send a request again as
// this package does, which an idempotency key allows (the nil value is not sent).
func (h *hostile) runNetHTTP(t testing.TB, certificate *tls.Certificate, timeout time.Duration) []outcome {
	s := newStage(t, h, certificate)
	defer s.close()
	transport := &http.Transport{
		DialContext: s.dial, TLSClientConfig: s.tlsConfig(), MaxResponseHeaderBytes: hostileHeader, DisableCompression: true,
	}
	defer transport.CloseIdleConnections()
	send := func(ctx context.Context, u *url.URL, body []byte) (int, bool, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
		if err != nil {
			return 0, false, err
		}
		r.Header["Idempotency-Key"] = nil
		response, err := transport.RoundTrip(r)
		if err != nil {
			return 0, false, err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusSwitchingProtocols { // its body is the connection, which ctx does not end
			return response.StatusCode, false, nil
		}
		_, err = io.CopyN(io.Discard, response.Body, hostileBody)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return response.StatusCode, err != nil, err
	}
	return s.run(send, func() {
		if !h.keeps { // net/http's goroutine reads what has arrived, and closes the connection
			s.untilClosed(func(uintptr) bool { return false })
		}
	}, timeout)
}

// compare returns how our outcomes are laxer than net/http's outcomes, "" if they are
// not.
func compare(ours, theirs []outcome) string {
	for i, o := range ours {
		n := theirs[i]
		switch {
		case o.delivered() && !n.delivered():
			return fmt.Sprintf("request %d is taken for a success: ours %+v, net/http %+v", i+1, o, n)
		case o.status != 0 && o.status != 500 && o.status != 503 && n.status != 0 && o.status != n.status:
			return fmt.Sprintf("request %d has a status of another: ours %+v, net/http %+v", i+1, o, n)
		case o.reused && !n.reused:
			return fmt.Sprintf("request %d reuses a connection: ours %+v, net/http %+v", i+1, o, n)
		}
	}
	return ""
}

// laxer returns how our outcomes are laxer than all of some runs of net/http: it has
// several goroutines, and a few of its outcomes depend on which of them comes first.
func (h *hostile) laxer(t testing.TB, ours []outcome, certificate *tls.Certificate, timeout time.Duration) (how string) {
	for range 5 {
		if how = compare(ours, h.runNetHTTP(t, certificate, timeout)); how == "" {
			break
		}
	}
	return how
}

func (h *hostile) test(t *testing.T, certificate *tls.Certificate) []outcome {
	const patience = 20 * time.Second
	ours := h.runOurs(t, certificate, patience)
	if laxer := h.laxer(t, ours, certificate, patience); laxer != "" {
		t.Error(laxer)
	}
	if h.keeps && (ours[1].status != 500 || !ours[1].reused) {
		t.Errorf("the connection was not kept: %+v", ours)
	}
	return ours
}

func TestClient_HostileServers(t *testing.T) {
	certificate := certify()
	for _, h := range hostiles() {
		t.Run(strings.ReplaceAll(h.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h.test(t, &certificate)
		})
	}
}

// second plays the receiver, and requires the status of the second request.
func (h *hostile) second(t *testing.T, status int) {
	certificate := certify()
	if ours := h.test(t, &certificate); ours[1].status != status || ours[1].reused {
		t.Errorf("the outcome of the second request is %+v, want the status %d over a new connection", ours[1], status)
	}
}

func find(t *testing.T, name string) *hostile {
	for _, h := range hostiles() {
		if h.name == name {
			return &h
		}
	}
	t.Fatalf("there is no receiver %q", name)
	return nil
}

func TestHostile_408OnIdleConnection(t *testing.T) {
	find(t, "408 on an idle connection").second(t, 503)
}

func TestHostile_204WithLateBody(t *testing.T) {
	find(t, "204 with a late body").second(t, 503)
}

func TestHostile_ExtraResponse(t *testing.T) {
	find(t, "extra response while idle").second(t, 503)
}
