package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// framed is a server of HTTP/2 frames. script responds to the nth request, and the server
// closes the connection when script returns false. closed counts the connections that ended.
func framed(t *testing.T, c *Client, script func(f *http2.Framer, stream uint32, n int64) bool) (url string, closed *atomic.Int64) {
	certificate := certify()
	parsed, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	c.options.TLS.RootCAs = x509.NewCertPool()
	c.options.TLS.RootCAs.AddCert(parsed)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpnHTTP2}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	closed = new(atomic.Int64)
	var n atomic.Int64
	serve := func(conn net.Conn) {
		defer closed.Add(1)
		defer conn.Close()
		f := http2.NewFramer(conn, conn)
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil || f.WriteSettings() != nil {
			return
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if data, ok := frame.(*http2.DataFrame); ok && data.StreamEnded() && !script(f, data.StreamID, n.Add(1)) {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "https://" + l.Addr().String(), closed
}

// ok responds with the status 200 and no body.
func ok(f *http2.Framer, stream uint32) bool { return headed(f, stream, 8) } // :status 200

// headed responds with one header, by its index in the static table of HPACK.
func headed(f *http2.Framer, stream uint32, index byte) bool {
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x80 | index}, EndHeaders: true, EndStream: true}) == nil
}

// until waits until a condition holds, and fails after a minute.
func until(t *testing.T, fault string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal(fault)
		}
	}
}

// The client repeats a request that a server refused unprocessed, a few times. It never repeats
// a request that the server may have processed: a partner would get the webhook twice.
func TestHTTP2_Unprocessed(t *testing.T) {
	resets := func(code http2.ErrCode) func(*http2.Framer, uint32) bool {
		return func(f *http2.Framer, stream uint32) bool { return f.WriteRSTStream(stream, code) == nil }
	}
	goesAway := func(last uint32) func(*http2.Framer, uint32) bool {
		return func(f *http2.Framer, _ uint32) bool { return f.WriteGoAway(last, http2.ErrCodeNo, nil) == nil }
	}
	for name, c := range map[string]struct {
		refuse   func(f *http2.Framer, stream uint32) bool
		refusals int64
		requests int64
		dials    int64
		fails    bool
	}{
		"refused":                   {resets(http2.ErrCodeRefusedStream), 1, 2, 1, false},
		"refused again and again":   {resets(http2.ErrCodeRefusedStream), 100, maxTries, 1, true},
		"beyond the stream limit":   {resets(http2.ErrCodeProtocol), 1, 2, 2, false},
		"going away, not processed": {goesAway(0), 1, 2, 2, false},
		"internal error":            {resets(http2.ErrCodeInternal), 1, 1, 1, true},
		"response without a status": {func(f *http2.Framer, stream uint32) bool { return headed(f, stream, 16) }, 1, 1, 1, true},
		"canceled":                  {resets(http2.ErrCodeCancel), 1, 1, 1, true},
	} {
		for _, used := range []int64{0, 1} { // requests on the connection before
			t.Run(fmt.Sprintf("%s, used %d", name, used), func(t *testing.T) {
				var dials, requests atomic.Int64
				client := newClient(t, &dials)
				url, _ := framed(t, client, func(f *http2.Framer, stream uint32, n int64) bool {
					if requests.Store(n - used); n <= used || n > used+c.refusals {
						return ok(f, stream)
					}
					return c.refuse(f, stream)
				})
				to := targetOver(t, client, url, HTTP2, "org")
				for range used {
					if _, err := to.post(patience(t), []byte("{}"), 0); err != nil {
						t.Fatal(err)
					}
				}
				response, err := to.post(patience(t), []byte("{}"), 0)
				if failed := err != nil; failed != c.fails || !failed && response.Status != 200 {
					t.Errorf("response %+v, %v", response, err)
				}
				if requests.Load() != c.requests || dials.Load() != c.dials {
					t.Errorf("%d requests over %d connections, want %d over %d", requests.Load(), dials.Load(), c.requests, c.dials)
				}
			})
		}
	}
}

// A server says GOAWAY on an idle connection and leaves it open. The next request takes a new
// connection, and the client closes the old one.
func TestHTTP2_GoAwayWhileIdle(t *testing.T) {
	var dials atomic.Int64
	client := newClient(t, &dials)
	idle := make(chan struct{})
	url, closed := framed(t, client, func(f *http2.Framer, stream uint32, n int64) bool {
		if !ok(f, stream) || n > 1 {
			return n > 1
		}
		<-idle
		return f.WriteGoAway(stream, http2.ErrCodeNo, nil) == nil
	})
	to := targetOver(t, client, url, HTTP2, "org")
	post := func() {
		t.Helper()
		if response, err := to.post(patience(t), []byte("{}"), 0); err != nil || response.Status != 200 {
			t.Fatalf("%+v, %v", response, err)
		}
	}
	post()
	first := to.destination.shared.conns[0]
	until(t, "the first request does not end", func() bool { return first.InFlight() == 0 })
	close(idle)
	until(t, "the client ignores GOAWAY", func() bool { return first.Available() == 0 })
	post()
	post()
	until(t, "the old connection stays open", func() bool { return closed.Load() == 1 })
	if n := client.pool.shared.Load(); n != 1 || dials.Load() != 2 {
		t.Errorf("%d connections were opened, want 2, and the pool counts %d, want 1", dials.Load(), n)
	}
}
