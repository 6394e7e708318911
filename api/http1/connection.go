package http1

import (
	"bytes"
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
)

// What a connection is about. It leaves idle by whoever changes it first: the request
// that comes, or the server that stops.
const (
	idle int32 = iota
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
	buffer := make([]byte, most+1) // one is for exchange.look
	return &connection{server: s, conn: conn, rest: rest, remote: conn.RemoteAddr().String(), buffer: buffer}
}

// stop closes the connection if it is idle, or in any case.
func (c *connection) stop(whatever bool) {
	if c.state.CompareAndSwap(idle, stopped) || whatever {
		_ = c.conn.Close()
	}
}

// serve answers requests until the connection ends or is handed over.
func (c *connection) serve() {
	defer c.server.leave(c)
	defer func() {
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
	for {
		if c.come > c.read {
			body, length, found := c.head.cut(c.buffer[c.read:c.come])
			switch {
			case found == whole:
				c.read += length
				return body, true
			case found == foreign, c.come-c.read == most:
				c.handOver()
				return nil, false
			}
			wait = atOnce
		}
		if err := c.fill(wait); err != nil {
			if c.come > 0 {
				c.handOver() // it knows what to say
			}
			return nil, false
		}
	}
}

// fill reads more of a request.
func (c *connection) fill(wait time.Duration) error {
	c.come, c.read = copy(c.buffer, c.buffer[c.read:c.come]), 0
	_ = c.conn.SetReadDeadline(after(time.Now(), wait)) // a closed one fails at Read
	n, err := c.conn.Read(c.buffer[c.come:most])
	if n > 0 && c.come == 0 && !c.state.CompareAndSwap(idle, busy) {
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
	read := c.buffer[c.read:c.come]
	if c.last != nil {
		// Old clients end a body with a line. net/http forgives it, but would not
		// know that there was a body.
		read = bytes.TrimLeft(read, newline)
	}
	_ = c.conn.SetDeadline(time.Time{}) // a closed one fails at Read
	c.handed = c.rest.hand(arrival{conn: &begun{c.conn, read}})
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

// after is the deadline of what may take so long, none where there is no limit.
func after(now time.Time, limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return now.Add(limit)
}
