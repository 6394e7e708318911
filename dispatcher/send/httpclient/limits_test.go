package httpclient

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A client keeps no idle connection beyond its limit for all destinations.
func TestPool_IdleLimit(t *testing.T) {
	for _, protocol := range []Protocol{HTTP1, HTTP2} {
		s := secureServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }, protocolNames(alpnHTTP2, alpnHTTP1))
		var dials atomic.Int64
		c := newClient(t, &dials)
		trust(c, s)
		to := targetOver(t, c, s.URL, protocol, "org")
		post := func() {
			t.Helper()
			if response, err := to.post(patience(t), []byte("{}"), 10); err != nil || response.Status != 200 {
				t.Fatalf("%+v, %v", response, err)
			}
		}
		post()
		post()
		if n := dials.Load(); n != 1 {
			t.Errorf("protocol %d: %d connections below the limit, want 1", protocol, n)
		}
		count := &c.pool.idle
		if protocol == HTTP2 {
			count = &c.pool.shared
		}
		if n := count.Load(); n != 1 {
			t.Errorf("protocol %d: counted %d connections, want 1", protocol, n)
		}
		count.Add(maxIdleAll)
		post() // over the connection that is there
		post()
		if n := dials.Load(); n != 2 {
			t.Errorf("protocol %d: %d connections beyond the limit, want 2", protocol, n)
		}
		if n := count.Load(); n != maxIdleAll {
			t.Errorf("protocol %d: counted %d connections, want %d", protocol, n, maxIdleAll)
		}
	}
}

// An organization with very many destinations leaves idle connections to the others.
func TestPool_IdleLimitOfOrganization(t *testing.T) {
	p := newPool(2, time.Hour)
	defer p.close()
	put := func(org string, number int) bool {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		d := p.destination(destinationKey{organization: org, address: fmt.Sprint(number)})
		d.put(newHTTP1Conn(ours, 100))
		return len(d.idle) > 0
	}
	for i := range maxIdleAll + 10 {
		put("greedy", i)
	}
	p.expire(time.Time{}) // a sweep without an expired connection changes no count
	if put("greedy", maxIdleAll+10) {
		t.Error("an organization has idle connections beyond its limit")
	}
	if !put("other", 0) {
		t.Error("an idle connection of another organization is closed")
	}
	if n := p.idle.Load(); n > maxIdleAll {
		t.Errorf("%d idle connections", n)
	}
	p.expire(time.Now().Add(time.Hour))
	if kept := put("greedy", 0); !kept || p.idle.Load() != 1 {
		t.Errorf("%d idle connections after the others have expired, want 1", p.idle.Load())
	}
}

// blockedConn is a connection whose Close waits.
type blockedConn struct {
	net.Conn
	closing, closed chan struct{}
}

func (c blockedConn) Close() error {
	close(c.closing)
	<-c.closed
	return c.Conn.Close()
}

// Requests do not wait while an idle connection says goodbye to a slow receiver.
func TestPool_SweepBlocked(t *testing.T) {
	p := newPool(2, time.Hour)
	defer p.close()
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	blocked := blockedConn{ours, make(chan struct{}), make(chan struct{})}
	d := p.destination(named("a"))
	d.put(newHTTP1Conn(blocked, 100))
	d.idle[0].lastUsed = time.Now().Add(-2 * time.Hour)
	swept := make(chan struct{})
	go func() {
		p.sweep()
		close(swept)
	}()
	<-blocked.closing
	if p.destination(named("a")) != d || p.destination(named("b")) == d {
		t.Error("wrong destinations")
	}
	d.dialed()
	close(blocked.closed)
	<-swept
	if n := p.idle.Load(); n != 0 || len(d.idle) != 0 {
		t.Errorf("%d connections remain, counted %d", len(d.idle), n)
	}
}

// silentConn is a connection whose bytes get lost once it is lost.
type silentConn struct {
	net.Conn
	lost *atomic.Bool
}

func (c silentConn) Write(p []byte) (int, error) {
	if c.lost.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// stuckConn takes no more bytes once its server is lost. A write then waits for its deadline
// or the end of the connection.
type stuckConn struct {
	net.Conn
	lost     *atomic.Bool
	released chan struct{}
	release  func()
}

func (c stuckConn) Write(p []byte) (int, error) {
	if c.lost.Load() {
		<-c.released
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Write(p)
}

func (c stuckConn) SetWriteDeadline(t time.Time) error {
	if c.lost.Load() && !t.IsZero() {
		time.AfterFunc(time.Until(t), c.release)
	}
	return nil
}

func (c stuckConn) Close() error {
	c.release()
	return c.Conn.Close()
}

// A connection whose server is gone without a word is replaced, also if requests wait for
// the connection to take their bytes.
func TestHTTP2_ServerGone(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn, *atomic.Bool) net.Conn{
		"silent": func(c net.Conn, lost *atomic.Bool) net.Conn { return silentConn{c, lost} },
		"stuck": func(c net.Conn, lost *atomic.Bool) net.Conn {
			released := make(chan struct{})
			return stuckConn{c, lost, released, sync.OnceFunc(func() { close(released) })}
		},
	} {
		t.Run(name, func(t *testing.T) { serverGone(t, wrap) })
	}
}

func serverGone(t *testing.T, wrap func(net.Conn, *atomic.Bool) net.Conn) {
	s := secureServer(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }, protocolNames(alpnHTTP2))
	var dials atomic.Int64
	c := newClient(t, &dials)
	c.options.PingAfter = 50 * time.Millisecond
	c.http2 = newHTTP2Transport(c.options)
	trust(c, s)
	var lost atomic.Bool
	dial := c.options.Dial
	c.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil || dials.Load() > 1 {
			return conn, err
		}
		return wrap(conn, &lost), nil
	}
	to := targetOver(t, c, s.URL, HTTP2, "org")
	if response, err := to.post(patience(t), []byte("{}"), 10); err != nil || response.Status != 200 {
		t.Fatalf("%+v, %v", response, err)
	}
	lost.Store(true)
	body := make([]byte, 2*maxGathered)
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err = to.post(ctx, body, 10)
		cancel()
		if err == nil {
			return
		}
	}
	t.Errorf("no request succeeded over %d connections: %v", dials.Load(), err)
}
