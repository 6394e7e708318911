package http1

import (
	"net"
	"sync/atomic"
	"time"
)

const (
	// most is the largest request that is read here, head and body, in bytes.
	most = 4<<10 - 1
	// atOnce is how long the rest of a request may take to come. A client that sends
	// the body after the head takes no longer; for one that does, net/http waits.
	atOnce = 100 * time.Millisecond
	// mostLines is how much is forgiven before a request, in bytes of empty lines.
	mostLines = 4
)

// What a connection is about. It leaves idle by whoever changes it first: the request
// that comes, or the server that stops. One that is fresh has come with a request, most
// often, which is on its way.
const (
	fresh int32 = iota
	idle
	busy
	stopped
)

// connection reads plain requests and answers them, one after another.
type connection struct {
	server *Server
	conn   net.Conn
	rest   *handedOver
	remote string
	state  atomic.Int32
	handed bool // to net/http

	buffer []byte // what has come lies from read to come
	read   int
	come   int
	head   head      // of the request before
	last   *exchange // which was that
}

func newConnection(s *Server, conn net.Conn, rest *handedOver) *connection {
	c := &connection{server: s, conn: conn, rest: rest, buffer: make([]byte, most+1)} // one is for exchange.look
	if remote := conn.RemoteAddr(); remote != nil {                                   // else it is closed already
		c.remote = remote.String()
	}
	return c
}

// stop closes the connection if it is idle, or in any case. One that is fresh has a
// moment left.
func (c *connection) stop(whatever bool) {
	switch {
	case whatever, c.state.CompareAndSwap(idle, stopped):
		_ = c.conn.Close()
	case c.state.Load() == fresh:
		_ = c.conn.SetReadDeadline(time.Now().Add(atOnce)) // a closed one fails at Read
	}
}

// begin makes the connection busy with a request, unless it was stopped.
func (c *connection) begin() bool {
	return c.state.CompareAndSwap(idle, busy) || c.state.CompareAndSwap(fresh, busy)
}

// serve answers requests until the connection ends or is handed over. As with net/http, a
// handler that panics loses its connection.
func (c *connection) serve() {
	defer c.server.leave(c)
	defer func() {
		c.recovered(recover())
		if !c.handed {
			_ = c.conn.Close()
		}
	}()
	for wait := c.server.http.ReadHeaderTimeout; ; wait = c.server.http.IdleTimeout {
		body, ok := c.next(wait)
		if !ok || !c.answer(body) || !c.rested() {
			return
		}
	}
}

// next reads the next request: c.head says what it is, and what is returned is its body.
// There is none when the connection has ended or was handed over.
func (c *connection) next(wait time.Duration) (body []byte, ok bool) {
	until, began := after(time.Now(), wait), false
	for lines := 0; ; {
		if n := c.skip(mostLines - lines); n > 0 {
			if lines += n; c.come == c.read && !c.rested() {
				return nil, false
			}
		}
		if c.come > c.read {
			body, length, found := c.head.cut(c.buffer[c.read:c.come])
			switch {
			case found == whole:
				c.read += length
				return body, true
			case found == foreign, c.come-c.read == most:
				c.handOver()
				return nil, false
			case !began:
				until, began = time.Now().Add(atOnce), true
			}
		}
		if err := c.fill(until); err != nil {
			if c.come > 0 {
				c.handOver() // it knows what to say
			}
			return nil, false
		}
	}
}

// skip skips what some old clients send after a body, as net/http does, and returns how
// many bytes that was.
func (c *connection) skip(atMost int) (n int) {
	for c.last != nil && n < atMost && c.come > c.read && (c.buffer[c.read] == '\r' || c.buffer[c.read] == '\n') {
		c.read++
		n++
	}
	return n
}

// fill reads more of a request.
func (c *connection) fill(until time.Time) error {
	c.come, c.read = copy(c.buffer, c.buffer[c.read:c.come]), 0
	_ = c.conn.SetReadDeadline(until) // a closed one fails at Read
	n, err := c.conn.Read(c.buffer[c.come:most])
	if n > 0 && c.come == 0 && !c.begin() {
		return net.ErrClosed
	}
	c.come += n
	return err
}

// rested makes the connection idle after an answer, if it may go on.
func (c *connection) rested() bool {
	if c.come == c.read { // else the next request is there already
		c.state.Store(idle)
	}
	return !c.server.stopping.Load()
}

// handOver hands the connection over to net/http, with what was read of it.
func (c *connection) handOver() {
	_ = c.conn.SetDeadline(time.Time{}) // a closed one fails at Read
	c.handed = c.rest.hand(arrival{conn: &begun{c.conn, c.buffer[c.read:c.come]}})
}

// begun is a connection of which something was read already.
type begun struct {
	net.Conn
	read []byte
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.read) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.read)
	if b.read = b.read[n:]; len(b.read) == 0 {
		b.read = nil
	}
	return n, nil
}

// CloseWrite is how net/http ends a connection on which more may come than it reads.
func (b *begun) CloseWrite() error {
	if half, ok := b.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// after is the deadline of what may take so long, none where there is no limit.
func after(now time.Time, limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return now.Add(limit)
}
