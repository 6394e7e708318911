package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// exchange is a request with its context and its body. The context ends when the client
// leaves, as net/http's does, and when the answer is made. To notice the former takes a
// goroutine, which is started for whoever waits by the context: most handlers never do.
type exchange struct {
	connection *connection
	of, like   *http.Request // as the head says, and with this context
	request    http.Request
	url        url.URL
	body       body

	mu      sync.Mutex
	ended   bool
	watched context.Context //nolint:containedctx // nil before somebody asked for it
	cancel  context.CancelFunc
	watch   chan struct{} // closed when the connection is not read any more, nil when it was not
}

// exchange begins the exchange of a request. It is the one before, begun again, if the
// head is and nobody waited by its context.
func (c *connection) exchange(body []byte) *exchange {
	x := c.last
	if x == nil || x.of != c.head.like || !x.again() {
		x = &exchange{connection: c, of: c.head.like}
		x.like = x.of.WithContext(x)
		x.like.RemoteAddr, x.like.URL = c.remote, &x.url
		c.last = x
	}
	x.request, x.url, x.body.left = *x.like, url.URL{Path: c.head.target}, body
	x.request.RequestURI, x.request.Body = c.head.target, &x.body
	if len(body) == 0 {
		x.request.Body = http.NoBody
	}
	return x
}

// again begins an exchange again, if it can be.
func (x *exchange) again() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = false
	return x.watched == nil
}

var _ context.Context = (*exchange)(nil)

// context is the context that ends when the client leaves.
func (x *exchange) context() context.Context {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.watched == nil {
		x.watched, x.cancel = context.WithCancel(context.Background())
		if x.ended {
			x.cancel()
		} else if c := x.connection; c.come == c.read { // else the next request is there already
			x.watch = make(chan struct{})
			_ = c.conn.SetReadDeadline(time.Time{}) // a closed one fails at Read
			go x.look()
		}
	}
	return x.watched
}

// look reads what is no part of the request: the next one, or nothing any more.
func (x *exchange) look() {
	defer close(x.watch)
	c := x.connection
	n, err := c.conn.Read(c.buffer[c.come : c.come+1])
	if n > 0 {
		c.come += n
		return
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return
	}
	x.cancel() // the client has left
}

// end ends the context, and what looks after the client.
func (x *exchange) end() {
	x.mu.Lock()
	x.ended = true
	watch, cancel := x.watch, x.cancel
	x.mu.Unlock()
	x.body.left = nil
	if watch != nil {
		_ = x.connection.conn.SetReadDeadline(time.Unix(1, 0)) // a closed one fails at Read
		<-watch
	}
	if cancel != nil {
		cancel()
	}
}

// Deadline is none: the handler has its own.
func (*exchange) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done is closed when the client leaves, and when the answer is made.
func (x *exchange) Done() <-chan struct{} { return x.context().Done() }

// Err is context.Canceled then.
func (x *exchange) Err() error { return x.context().Err() }

// Value is net/http's, or once somebody waits that of the context by which others know
// that they end with it.
func (x *exchange) Value(key any) any {
	switch key {
	case http.ServerContextKey:
		return x.connection.server.http
	case http.LocalAddrContextKey:
		return x.connection.conn.LocalAddr()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.watched == nil {
		return nil
	}
	return x.watched.Value(key)
}

// body is a request's body, which has come.
type body struct{ left []byte }

func (b *body) Read(p []byte) (n int, err error) {
	if len(b.left) == 0 {
		return 0, io.EOF
	}
	n = copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// Close is what a handler does that wants no more.
func (b *body) Close() error {
	b.left = nil
	return nil
}
