package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxHTTP2Conns is the maximum number of HTTP/2 connections to one destination. The
// goroutine that reads from a connection limits its speed. Many connections cost more
// system calls. Two measure best. BenchmarkClient_Send changes it.
var maxHTTP2Conns = 2

// streamsPerConn is the number of requests per connection before the client opens another
// connection.
const streamsPerConn = 8

// headerTable is the size of the compression table for request headers, in bytes. It is
// too small for any header. The identifier and the signature differ in each request.
// Replacing them in the table took 7 µs per request here, and as much at the receiver.
const headerTable = 1

// connKey is the context key of the connection for newHTTP2Transport.
type connKey struct{}

// newHTTP2Transport returns a transport that makes an HTTP/2 connection from the
// connection in its context. It never dials.
func newHTTP2Transport(o Options) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true) // net/http takes a gatheredConn for unencrypted
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, ok := ctx.Value(connKey{}).(*gatheredConn)
			if !ok {
				return nil, errors.New("no connection was dialed")
			}
			return conn, nil
		},
		Protocols: protocols,
		// Without pings, a connection whose server is gone without a word would be used until
		// TCP gives up, after a quarter of an hour.
		HTTP2:                  &http.HTTP2Config{MaxEncoderHeaderTableSize: headerTable, SendPingTimeout: o.PingAfter, PingTimeout: o.PingAfter},
		IdleConnTimeout:        o.IdleTimeout,
		MaxResponseHeaderBytes: int64(o.MaxHeader),
		DisableCompression:     true,
	}
}

// http2Conn is an HTTP/2 connection with many simultaneous requests.
type http2Conn struct {
	*http.ClientConn
	used   atomic.Bool  // a response was read before
	active atomic.Int64 // number of requests
}

// doHTTP2 sends a request once over HTTP/2. Errors: errStale, errProtocol.
func (t *Target) doHTTP2(ctx context.Context, r *Request, timing *Timing) (*Response, error) {
	if !r.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.Deadline)
		defer cancel()
	}
	c, err := t.destination.shared.acquire(ctx, func() (*http2Conn, error) { return t.connectHTTP2(ctx, timing) })
	if err != nil {
		return nil, err
	}
	defer t.destination.shared.release(c)
	body := &requestBody{rest: r.Body}
	defer body.end() // after the response's body was closed
	started := time.Now()
	received, err := c.RoundTrip(t.http2Request(ctx, r, body))
	timing.FirstByte = time.Since(started)
	if err != nil {
		return nil, because(ctx, t.destination.shared.failed(ctx, c, err))
	}
	c.used.Store(true)
	late := time.AfterFunc(t.client.options.BodyTimeout, func() { _ = received.Body.Close() })
	defer late.Stop()
	defer func() { _ = received.Body.Close() }()
	response := &Response{Status: received.StatusCode, Header: received.Header}
	_, err = response.read(received.Body, r.kept(response.Status), t.client.options.MaxBody)
	return response, err
}

// connectHTTP2 opens an HTTP/2 connection. If the destination chooses HTTP/1.1, the
// connection is kept for HTTP/1.1, and connectHTTP2 returns errProtocol.
func (t *Target) connectHTTP2(ctx context.Context, timing *Timing) (*http2Conn, error) {
	conn, err := t.connect(ctx, time.Time{}, timing, alpnHTTP2, alpnHTTP1)
	if err != nil {
		return nil, err
	}
	secure, ok := conn.(*tls.Conn)
	if !ok || secure.ConnectionState().NegotiatedProtocol != alpnHTTP2 {
		t.destination.speaks.Store(int32(HTTP1))
		t.destination.put(newHTTP1Conn(conn, t.client.options.MaxHeader))
		return nil, fmt.Errorf("%w: HTTP/1.1", errProtocol)
	}
	gathered := gatherWrites(secure, secure.NetConn())
	shared, err := t.client.http2.NewClientConn(context.WithValue(ctx, connKey{}, gathered), "https", t.address)
	if err != nil {
		_ = gathered.Close()
		return nil, err
	}
	return &http2Conn{ClientConn: shared}, nil
}

// requestBody is the body of a request over HTTP/2. net/http may read it after RoundTrip
// has returned.
type requestBody struct {
	mu   sync.Mutex
	rest []byte
}

// Read reads from the body.
func (b *requestBody) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		err = io.EOF
	}
	return n, err
}

// Close does nothing.
func (b *requestBody) Close() error { return nil }

// end lets the caller use the bytes again: no read sees them any more.
func (b *requestBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest = nil
}

func (t *Target) http2Request(ctx context.Context, r *Request, body *requestBody) *http.Request {
	header := make(http.Header, len(t.Header)+len(r.Headers))
	maps.Copy(header, t.Header)
	for _, h := range r.Headers {
		header[h.Name] = []string{h.Value}
	}
	return (&http.Request{
		Method: http.MethodPost, URL: t.URL, Header: header,
		Proto: "HTTP/2.0", ProtoMajor: 2,
		Body: body, ContentLength: int64(len(r.Body)),
	}).WithContext(ctx)
}

// sharedConns are the HTTP/2 connections to one destination.
type sharedConns struct {
	opened func() // called after a connection was added
	count  counter

	mu      sync.Mutex
	conns   []*http2Conn
	dialing *dialing // nil if nobody is dialing
}

// dialing is a connection that is being opened.
type dialing struct {
	done chan struct{}
	err  error // set before done is closed
}

// acquire returns the connection with the fewest requests. If the connections are busy,
// it opens another connection, one at a time. At the destination's limit of concurrent
// streams the request waits in RoundTrip. acquire does not reserve a stream. For the last
// stream, a reservation could wait forever behind a request without a reservation.
func (s *sharedConns) acquire(ctx context.Context, dial func() (*http2Conn, error)) (*http2Conn, error) {
	for {
		s.mu.Lock()
		best := s.leastBusy()
		current := s.dialing
		if best != nil && (current != nil || len(s.conns) >= maxHTTP2Conns || best.active.Load() < streamsPerConn) {
			best.active.Add(1)
			s.mu.Unlock()
			return best, nil
		}
		if current == nil {
			s.dialing = &dialing{done: make(chan struct{})}
			s.mu.Unlock()
			c, err := s.open(dial)
			if err != nil && best != nil { // an additional connection is optional
				best.active.Add(1)
				return best, nil
			}
			return c, err
		}
		s.mu.Unlock()
		select {
		case <-current.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if current.err != nil && !errors.Is(current.err, context.Canceled) && !errors.Is(current.err, context.DeadlineExceeded) {
			return nil, current.err // a failed dial fails all requests that waited for it
		}
	}
}

// open dials and wakes the requests that wait for the connection.
func (s *sharedConns) open(dial func() (*http2Conn, error)) (*http2Conn, error) {
	c, err := dial()
	s.mu.Lock()
	if err == nil {
		c.active.Add(1)
		s.conns = append(s.conns, c)
		s.count.add(1)
	}
	s.dialing.err = err
	close(s.dialing.done)
	s.dialing = nil
	s.mu.Unlock()
	if err == nil {
		s.opened()
	}
	return c, err
}

// leastBusy removes unusable connections, and returns the connection with the fewest
// requests. The caller holds the mutex.
func (s *sharedConns) leastBusy() (best *http2Conn) {
	before := len(s.conns)
	s.conns = slices.DeleteFunc(s.conns, func(c *http2Conn) bool {
		active := c.active.Load()
		switch {
		case c.Err() != nil:
			return true
		case active == 0 && c.InFlight() == 0 && c.Available() == 0: // the server sent GOAWAY
			_ = c.Close()
			return true
		case best == nil || active < best.active.Load():
			best = c
		}
		return false
	})
	s.count.add(len(s.conns) - before)
	return best
}

// streamError is the error of one HTTP/2 request. net/http does not export its own error
// type, but fills a struct with these fields (see StreamError in golang.org/x/net/http2).
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error returns the code as text.
func (e streamError) Error() string { return fmt.Sprintf("stream error %d", e.Code) }

// HTTP/2 error codes of servers that refuse a request unprocessed.
const (
	protocolError = 1 // before the client knows the server's limit of concurrent streams
	refusedStream = 7
)

// isUnprocessed reports whether the server has certainly not processed a request. It
// follows the rules of net/http's own retries. It compares texts, because net/http does
// not export these errors.
func isUnprocessed(err error) bool {
	if stream, ok := errors.AsType[streamError](err); ok {
		return stream.Code == refusedStream ||
			stream.Code == protocolError && stream.Cause != nil && stream.Cause.Error() == "received from peer"
	}
	switch err.Error() {
	case "http2: client conn not usable", "http2: Transport received Server's graceful shutdown GOAWAY":
		return true
	}
	return false
}

// failed explains why RoundTrip failed. Errors: errStale.
func (s *sharedConns) failed(ctx context.Context, c *http2Conn, err error) error {
	_, ofStream := errors.AsType[streamError](err)
	closed := ctx.Err() == nil && !ofStream && c.Available() == 0
	if closed {
		s.remove(c)
	}
	if isUnprocessed(err) || closed && c.used.Load() {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	return fmt.Errorf("no response: %w", err)
}

// remove stops new requests on a connection. Current requests continue, and net/http then
// closes the connection.
func (s *sharedConns) remove(c *http2Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.conns)
	s.conns = slices.DeleteFunc(s.conns, func(other *http2Conn) bool { return other == c })
	s.count.add(len(s.conns) - before)
}

// release ends a request. If there are too many connections, it closes the connection
// after its last request.
func (s *sharedConns) release(c *http2Conn) {
	if c.active.Add(-1) == 0 && s.count.exceeds(0) {
		s.remove(c)
		c.SetStateHook(closeUnused)
		closeUnused(c.ClientConn)
	}
}

// close closes each connection once it has no requests.
func (s *sharedConns) close() {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.count.add(-len(conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.SetStateHook(closeUnused)
		closeUnused(c.ClientConn)
	}
}

func closeUnused(c *http.ClientConn) {
	if c.InFlight() == 0 {
		_ = c.Close()
	}
}

// prune removes unusable connections, and reports whether none are left. net/http closes
// idle connections itself.
func (s *sharedConns) prune() (empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leastBusy() == nil
}
