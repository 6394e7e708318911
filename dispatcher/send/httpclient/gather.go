package httpclient

import (
	"bytes"
	"net"
	"runtime"
	"sync"
	"time"
)

// A request over HTTP/2 is two writes, and many requests share a connection. One system
// call per write was a sixth of the cost of a request, so the writes are gathered.

const (
	// maxGathered is the number of bytes at which further writes wait.
	maxGathered = 128 << 10
	// closeTimeout is the time for the last bytes of a connection that is being closed. These
	// are the goodbyes of HTTP/2 and TLS.
	closeTimeout = 100 * time.Millisecond
)

// gathered holds buffers for gatherers. Idle connections have none.
var gathered = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// gatherer writes to a connection in its own goroutine. The writes that come while it
// writes become one write. An error appears at a later write.
type gatherer struct {
	conn net.Conn

	mu      sync.Mutex
	changed sync.Cond     // the fields below changed
	pending *bytes.Buffer // not yet written, or nil
	writing bool          // the goroutine runs
	closed  bool          // accept no more
	err     error         // of the first write that failed
}

// gatherWrites makes the connection gather its writes. Nobody may write meanwhile.
func (c *checkedConn) gatherWrites() {
	c.gatherer = &gatherer{conn: c.Conn}
	c.gatherer.changed.L = &c.gatherer.mu
}

// Write writes to the connection.
func (c *checkedConn) Write(p []byte) (int, error) {
	if c.gatherer == nil {
		return c.Conn.Write(p)
	}
	return c.gatherer.write(p)
}

// SetWriteDeadline sets the deadline of writes. With gathered writes it does nothing: they
// end when the connection is closed.
func (c *checkedConn) SetWriteDeadline(t time.Time) error {
	if c.gatherer == nil {
		return c.Conn.SetWriteDeadline(t)
	}
	return nil
}

// Close closes the connection, after the gathered writes or closeTimeout.
func (c *checkedConn) Close() error {
	if c.gatherer != nil {
		c.gatherer.close()
	}
	return c.Conn.Close()
}

func (g *gatherer) write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.pending != nil && g.pending.Len() >= maxGathered && g.err == nil && !g.closed {
		g.changed.Wait()
	}
	switch {
	case g.err != nil:
		return 0, g.err
	case g.closed:
		return 0, net.ErrClosed
	}
	if g.pending == nil {
		g.pending, _ = gathered.Get().(*bytes.Buffer)
	}
	_, _ = g.pending.Write(p) // returns no error
	if !g.writing {
		g.writing = true
		go g.run()
	}
	return len(p), nil
}

// run writes until nothing is pending.
func (g *gatherer) run() {
	for g.writeOnce() {
	}
}

// writeOnce writes what is pending, and reports whether there was anything.
func (g *gatherer) writeOnce() bool {
	runtime.Gosched() // more requests add their writes
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.changed.Broadcast()
	if g.err != nil || g.pending == nil {
		g.writing = false
		return false
	}
	out := g.pending
	g.pending = nil
	g.mu.Unlock()
	_, err := g.conn.Write(out.Bytes())
	out.Reset()
	gathered.Put(out)
	g.mu.Lock()
	g.err = err
	return true
}

// close refuses further writes and waits for the earlier ones.
func (g *gatherer) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.changed.Broadcast()
	_ = g.conn.SetWriteDeadline(time.Now().Add(closeTimeout)) // otherwise the connection is closed already
	for g.writing {
		g.changed.Wait()
	}
}
