package httpclient

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A burst of requests opens few connections at a time. The clock is a test's own: a
// request that waits longer than dialPatience may open one more.
func TestPool_Burst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials, most, now atomic.Int64
		c := newClient(t, &dials)
		c.options.Dial = func(context.Context, string, string) (net.Conn, error) {
			defer now.Add(-1)
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(dialPatience / 10)
			ours, theirs := net.Pipe()
			go respond(theirs, func(w io.Writer) bool {
				_, err := io.WriteString(w, fine)
				return err == nil
			})
			return ours, nil
		}
		to := target(t, c, "http://x.example")
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if response, err := to.post(patience(t), []byte("{}"), 10); err != nil || response.Status != 200 {
					t.Errorf("%+v, %v", response, err)
				}
			})
		}
		wg.Wait()
		if n := most.Load(); n > maxDials {
			t.Errorf("%d connections were opened at a time", n)
		}
	})
}

// A waiting request gets an idle connection, its turn to open one, a timeout or the end
// of its context.
func TestPool_Wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2, time.Hour)
		defer p.close()
		d := p.destination(named("a"))
		turn := func() {
			t.Helper()
			if c, err := d.acquire(t.Context()); c != nil || err != nil {
				t.Fatalf("%v, %v: not the turn to open a connection", c, err)
			}
		}
		for range maxDials {
			turn()
		}
		type result struct {
			c   *http1Conn
			err error
		}
		// wait starts a request that waits, and returns when it does.
		wait := func(ctx context.Context) chan result {
			results := make(chan result, 1)
			go func() {
				c, err := d.acquire(ctx)
				results <- result{c, err}
			}()
			synctest.Wait()
			return results
		}
		first, second := wait(t.Context()), wait(t.Context())
		ours, theirs := net.Pipe()
		defer theirs.Close()
		idle := newHTTP1Conn(ours, 10)
		d.put(idle)
		if r := <-first; r.c != idle || r.err != nil {
			t.Errorf("the first in line got %+v, not the idle connection", r)
		}
		began := time.Now()
		d.dialed()
		if r := <-second; r.c != nil || r.err != nil || time.Since(began) != 0 {
			t.Errorf("the second in line got %+v after %s, not the turn at once", r, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		third := wait(ctx)
		cancel()
		if r := <-third; !errors.Is(r.err, context.Canceled) {
			t.Errorf("canceled: %+v", r)
		}
		began = time.Now()
		turn()
		if waited := time.Since(began); waited != dialPatience || d.dials != maxDials+1 {
			t.Errorf("turn after %s, with %d connections being opened", waited, d.dials)
		}
		fourth := wait(t.Context())
		d.dialed()
		synctest.Wait()
		if d.dials != maxDials || len(fourth) != 0 {
			t.Errorf("%d connections are being opened beyond the limit", d.dials)
		}
		d.dialed()
		if r := <-fourth; r.c != nil || r.err != nil {
			t.Errorf("the fourth in line got %+v, not the turn", r)
		}
		for range maxDials {
			d.dialed()
		}
		if d.dials != 0 || len(d.waiting) != 0 {
			t.Errorf("%d connections are being opened, %d requests wait", d.dials, len(d.waiting))
		}
	})
}

// A request may stop to wait just when it gets a connection, or its turn to open one. Neither is
// lost.
func TestPool_WaitEnds(t *testing.T) {
	for range 50 { // select chooses at random
		for _, impatient := range []bool{true, false} {
			for _, connected := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) { waitEnds(t, impatient, connected) })
			}
		}
	}
}

func waitEnds(t *testing.T, impatient, connected bool) {
	p := newPool(2, time.Hour)
	defer p.close()
	d := p.destination(named("a"))
	for range maxDials {
		_ = take(d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	var got *http1Conn
	var err error
	go func() {
		defer close(done)
		got, err = d.acquire(ctx)
	}()
	synctest.Wait()
	if impatient {
		<-time.After(dialPatience)
	} else {
		cancel()
	}
	dials := maxDials
	var idle *http1Conn
	if connected {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		idle = newHTTP1Conn(ours, 10)
		d.put(idle)
	} else {
		d.dialed()
		dials--
	}
	<-done
	if err == nil && got == nil {
		dials++
	}
	if d.dials != dials || connected && got != idle && !slices.Contains(d.idle, idle) {
		t.Errorf("impatient %t, connected %t: got %v, %v, with %d idle connections and %d being opened, want %d", impatient, connected, got, err, len(d.idle), d.dials, dials)
	}
}

// Connections that are idle for longer than the timeout are closed, again and again.
func TestPool_IdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2, time.Hour)
		defer p.close()
		d := p.destination(named("a"))
		for n := range 3 {
			ours, theirs := net.Pipe()
			d.put(newHTTP1Conn(ours, 10))
			<-time.After(time.Hour - time.Minute)
			if p.idle.Load() != 1 {
				t.Errorf("connection %d is closed before the timeout", n)
			}
			<-time.After(time.Hour)
			if p.idle.Load() != 0 {
				t.Errorf("connection %d stays after the timeout", n)
			}
			if _, err := theirs.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("connection %d is not closed: %v", n, err)
			}
			_ = theirs.Close()
		}
	})
}

// A request that ends while it waits for its turn opens no connection, and leaves the turns to
// the others.
func TestPost_CanceledInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int64
		c := newClient(t, &dials)
		release := make(chan struct{})
		c.options.Dial = func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			<-release
			return nil, errors.New("refused")
		}
		to := target(t, c, "http://x.example")
		var wg sync.WaitGroup
		for range maxDials {
			wg.Go(func() { _, _ = to.post(t.Context(), []byte("{}"), 10) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), dialPatience/2)
		defer cancel()
		if _, err := to.post(ctx, []byte("{}"), 10); !errors.Is(err, context.DeadlineExceeded) || dials.Load() != maxDials {
			t.Errorf("%v, with %d attempts to connect, want %d", err, dials.Load(), maxDials)
		}
		close(release)
		wg.Wait()
		if to.destination.dials != 0 {
			t.Errorf("%d attempts are counted after their end", to.destination.dials)
		}
	})
}

// A client closes the connections that it cannot use again, and counts no attempt to connect
// that has ended.
func TestPool_Unusable(t *testing.T) {
	for name, response := range map[string]string{
		"announced": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"malformed": "SMTP/1.1 200 OK\r\n\r\n",
		"too long":  "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("x", 9000),
	} {
		var dials, closed atomic.Int64
		c := newClient(t, &dials)
		dial := c.options.Dial
		c.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return closingConn{conn, &closed}, err
		}
		to := target(t, c, scripted(t, func(_ int, w io.Writer) bool { _, _ = io.WriteString(w, response); return true }))
		for range 2 {
			_, _ = to.post(patience(t), []byte("{}"), 10)
		}
		if to.destination.dials != 0 || dials.Load() != 2 || closed.Load() != 2 {
			t.Errorf("%s: %d connections, %d closed, %d attempts in progress", name, dials.Load(), closed.Load(), to.destination.dials)
		}
	}
}

// closingConn counts its closing.
type closingConn struct {
	net.Conn
	closed *atomic.Int64
}

func (c closingConn) Close() error {
	c.closed.Add(1)
	return c.Conn.Close()
}

// A request ends at its deadline while it connects. A failed handshake closes its connection,
// and says nothing about the protocol of the destination.
func TestConnect_Failures(t *testing.T) {
	plain := strings.Replace(scripted(t, func(int, io.Writer) bool { return false }), "http:", "https:", 1)
	for _, protocol := range []Protocol{Auto, HTTP1, HTTP2} {
		var dials, closed atomic.Int64
		c := newClient(t, &dials)
		dial := c.options.Dial
		c.options.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := targetOver(t, c, plain, protocol, "org").Do(ctx, &Request{Deadline: time.Now().Add(50 * time.Millisecond)}, &Timing{})
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Errorf("protocol %d: connecting ends with %v, and the context with %v", protocol, err, ctx.Err())
		}
		c.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return closingConn{conn, &closed}, err
		}
		if _, err := targetOver(t, c, plain, protocol, "other").post(ctx, nil, 0); err == nil || closed.Load() != 1 || dials.Load() != 1 {
			t.Errorf("protocol %d: the handshake ends with %v, and %d of %d connections are closed", protocol, err, closed.Load(), dials.Load())
		}
	}
}
