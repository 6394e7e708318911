package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory, which have the time of the test.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial is a connection to whoever listens.
func (p pipes) dial(t testing.TB) *asker {
	here, there := net.Pipe()
	p <- there
	return &asker{here, bufio.NewReader(here), t}
}

// A request may take a moment to come, and longer with net/http. Connections that do not
// say anything end in time.
func TestPatience(t *testing.T) {
	for name, test := range map[string]struct {
		first  bool // request of the connection
		sent   []string
		pause  time.Duration // between them
		rest   int64         // connections that net/http gets
		answer bool
		ends   time.Duration // when the connection does, with nothing more to come
	}{
		"nothing":            {true, nil, 0, 0, false, 5 * time.Second},
		"nothing more":       {false, nil, 0, 0, false, time.Minute},
		"one":                {true, []string{post("/", "{}")}, 0, 0, true, time.Minute},
		"a line after it":    {true, []string{post("/", "{}") + "\r\n"}, 0, 0, true, time.Minute},
		"in a moment":        {true, []string{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n", "{}"}, 90 * time.Millisecond, 0, true, time.Minute},
		"in a while":         {true, []string{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n", "{}"}, time.Second, 1, true, time.Minute},
		"the head in pieces": {false, []string{"POST / HTTP/1.1\r\n", "Host: x\r\n\r\n"}, time.Second, 1, true, time.Minute},
		"never":              {true, []string{"POST / HTTP/1.1\r\nHost:"}, 0, 1, false, atOnce + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := make(pipes)
				s := serveOn(l, echo)
				a := l.dial(t)
				if !test.first {
					a.send(post("/", "{}"))
					a.answer()
				}
				for i, piece := range test.sent {
					if i > 0 {
						<-time.After(test.pause)
					}
					a.send(piece)
				}
				if test.answer {
					a.answer()
				}
				began := time.Now()
				a.ended()
				if took := time.Since(began); took != test.ends || s.rest.Load() != test.rest {
					t.Errorf("it ended after %s, net/http had %d connections", took, s.rest.Load())
				}
				_ = s.Close()
				<-s.done
			})
		})
	}
}

// A request that comes byte by byte has no longer than one that does not come.
func TestDribbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		s := serveOn(l, echo)
		a := l.dial(t)
		began := time.Now()
		for _, b := range post("/", "{}", "X-A: "+strings.Repeat("x", 3000)) {
			if _, err := io.WriteString(a, string(b)); err != nil {
				break
			}
			<-time.After(atOnce - time.Millisecond)
		}
		if took := time.Since(began); took > atOnce+6*time.Second {
			t.Errorf("it was listened to for %s", took)
		}
		_ = s.Close()
		<-s.done
	})
}

// An answer is of when it is sent.
func TestDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		s := serveOn(l, func(http.ResponseWriter, *http.Request) { <-time.After(20 * time.Second) })
		a := l.dial(t)
		a.send(post("/", "{}"))
		if r, _ := a.answer(); r.Header.Get("Date") != time.Now().UTC().Format(http.TimeFormat) {
			t.Errorf("it is of %s at %s", r.Header.Get("Date"), time.Now())
		}
		_ = s.Close()
		<-s.done
	})
}

// nameless is a connection that has no address, as one that is closed already.
type nameless struct{ net.Conn }

func (nameless) RemoteAddr() net.Addr { return nil }

func TestConnectionsWithoutAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		s := serveOn(l, func(_ http.ResponseWriter, r *http.Request) {
			if r.RemoteAddr != "" {
				t.Errorf("it is %s", r.RemoteAddr)
			}
		})
		here, there := net.Pipe()
		l <- nameless{there}
		a := &asker{here, bufio.NewReader(here), t}
		a.send(post("/", "{}"))
		a.answer()
		_ = s.Close()
		<-s.done
	})
}
