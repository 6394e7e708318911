package httpclient

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// Before a request is written, its connection is checked. A server may have closed the
// connection, or sent data that nobody requested. The client must not take such data for
// the response to the next request. The check is one nonblocking read.
//
// Over TLS the read goes through crypto/tls, so it also finds data that crypto/tls has
// already decrypted or buffered. Session tickets and key updates are not application
// data: crypto/tls handles them, and the connection stays open.

// errUnsolicited says that a destination sent data that nobody requested.
var errUnsolicited = errors.New("the destination sent data without a request")

// check returns an error if the connection is closed or holds unread data. The
// connection's deadline must be set.
func (c *http1Conn) check() error {
	if c.checked.raw == nil {
		_ = c.conn.SetReadDeadline(time.Now().Add(c.checked.wait))
		defer c.setReadDeadline(c.deadline)
	}
	c.checked.nonblocking = true
	n, err := c.conn.Read(c.probe[:])
	c.checked.nonblocking = false
	switch {
	case n > 0:
		return errUnsolicited
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	}
	return fmt.Errorf("the destination closed the connection: %w", err)
}

// checkWait is how long the check waits on a system without nonblocking reads of sockets.
const checkWait = 100 * time.Microsecond

// checkedConn is a network connection with optionally nonblocking reads.
type checkedConn struct {
	net.Conn

	raw syscall.RawConn // nil if reads always block
	// wait is how long the check waits if raw is nil. It is 0 if the connection is not a
	// socket, because only sockets have a buffer.
	wait time.Duration
	// nonblocking makes Read return os.ErrDeadlineExceeded if there is nothing to read.
	// crypto/tls continues after that error.
	nonblocking bool

	// Parameters and results of tryRead. newCheckedConn allocates tryRead once.
	buffer  []byte
	n       int
	err     error
	tryRead func(fd uintptr) (done bool)
}

func newCheckedConn(conn net.Conn) *checkedConn {
	c := &checkedConn{Conn: conn}
	if s, ok := conn.(syscall.Conn); ok {
		c.wait = checkWait
		if raw, err := s.SyscallConn(); err == nil && canReadNonblocking {
			c.raw = raw
		}
	}
	c.tryRead = func(fd uintptr) bool {
		c.n, c.err = readNonblocking(fd, c.buffer)
		return true
	}
	return c
}

// Read reads from the connection.
func (c *checkedConn) Read(p []byte) (int, error) {
	if !c.nonblocking || c.raw == nil {
		return c.Conn.Read(p)
	}
	c.buffer = p
	err := c.raw.Read(c.tryRead)
	c.buffer = nil
	if err != nil {
		return 0, err
	}
	return c.n, c.err
}
