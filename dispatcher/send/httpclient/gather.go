package httpclient

import (
	"bytes"
	"net"
	"runtime"
	"sync"
	"time"
)

// A request over HTTP/2 is three writes, and many requests share a connection. Each write
// would be a TLS record and a system call, and would enlarge the stack of a request's
// goroutine. So the writes are gathered before they are encrypted.

const (
	// maxGathered is the number of bytes at which further writes wait.
	maxGathered = 128 << 10
	// closeTimeout is the time for the last bytes of a connection that is being closed, and
	// for the goodbye of TLS.
	closeTimeout = 100 * time.Millisecond
)

// gathered holds buffers for connections. Idle connections have none.
var gathered = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// gatheredConn writes to a TLS connection in a goroutine of its own. The writes that come
// while it writes become one write. An error appears at a later write.
type gatheredConn struct {
	net.Conn
	network net.Conn // the connection below TLS

	mu      sync.Mutex
	changed sync.Cond     // the fields below changed
	pending *bytes.Buffer // not yet written, or nil
	closed  bool          // accept no more
	writing bool          // the goroutine runs
	err     error         // of the first write that failed
}

func gatherWrites(conn, network net.Conn) *gatheredConn {
	g := &gatheredConn{Conn: conn, network: network}
	g.changed.L = &g.mu
	return g
}

// Write writes to the connection.
func (g *gatheredConn) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.pending != nil && g.pending.Len() >= maxGathered && g.err == nil {
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
func (g *gatheredConn) run() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.err == nil && g.pending != nil {
		g.writePendingLocked()
	}
	g.writing = false
}

// writePendingLocked unlocks the mutex while it writes.
func (g *gatheredConn) writePendingLocked() {
	g.mu.Unlock()
	runtime.Gosched() // more requests add their writes
	g.mu.Lock()
	out := g.pending
	g.pending = nil
	g.mu.Unlock()
	_, err := g.Conn.Write(out.Bytes())
	out.Reset()
	gathered.Put(out)
	g.mu.Lock()
	g.err = err
	g.changed.Broadcast()
}

// Close refuses further writes, and closes the connection after the earlier ones, or after
// closeTimeout.
func (g *gatheredConn) Close() error {
	defer time.AfterFunc(closeTimeout, func() { _ = g.network.Close() }).Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.writing {
		g.changed.Wait()
	}
	return g.Conn.Close()
}
