package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// connection is one connection to a destination, used by one request at a time.
type connection struct {
	conn      net.Conn
	in        *bufio.Reader
	limit     *limited
	maxHeader int
	out       []byte    // where requests are put together
	answered  bool      // it has answered before
	since     time.Time // when it was last put aside
	// ctx and by are what the request under way ends with, and at.
	ctx context.Context //nolint:containedctx // of one request at a time
	by  time.Time
}

// keptOut bounds the buffer that a connection keeps for its next request.
const keptOut = 64 << 10

func newConnection(conn net.Conn, maxHeader int) *connection {
	l := &limited{conn: conn, left: -1}
	return &connection{conn: conn, in: bufio.NewReader(l), limit: l, maxHeader: maxHeader}
}

func (c *connection) close() { _ = c.conn.Close() }

// bind makes the connection's reads and writes end with ctx, and at a time if that
// is not zero. The returned function undoes it, and reports whether ctx had not
// ended.
func (c *connection) bind(ctx context.Context, by time.Time) (unbind func() bool) {
	c.ctx, c.by = ctx, by
	if deadline, ok := ctx.Deadline(); ok && (by.IsZero() || deadline.Before(by)) {
		c.by = deadline
	}
	if err := c.conn.SetDeadline(c.by); err != nil { // the zero time is none
		return func() bool { return false } // closed: what comes fails
	}
	return context.AfterFunc(ctx, c.cut)
}

// cut ends the connection's reads and writes now.
func (c *connection) cut() { _ = c.conn.SetDeadline(time.Unix(1, 0)) }

// hurry makes what follows end after a time, if it does not end before.
func (c *connection) hurry(within time.Duration) {
	soon := time.Now().Add(within)
	if !c.by.IsZero() && c.by.Before(soon) {
		return
	}
	_ = c.conn.SetReadDeadline(soon)
	if c.ctx.Err() != nil { // it ended meanwhile, and its own deadline was overwritten
		c.cut()
	}
}

// errStale says that a kept connection was dead already.
var errStale = errors.New("the connection was closed")

// write puts a request together.
func (c *connection) write(head []byte, r *Request) {
	c.out = append(c.out[:0], head...)
	for _, h := range r.Headers {
		c.out = appendHeader(c.out, h.Name, h.Value)
	}
	c.out = append(c.out, "Content-Length: "...)
	c.out = strconv.AppendInt(c.out, int64(len(r.Body)), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, r.Body...)
}

// send writes the request and waits for the first byte of the answer: a
// destination may answer before it has read everything.
func (c *connection) send() error {
	c.limit.left = c.maxHeader
	_, failed := c.conn.Write(c.out)
	if cap(c.out) > keptOut {
		c.out = nil
	}
	_, err := c.in.Peek(1)
	switch {
	case err == nil:
		return nil
	case failed != nil:
		err = failed
	}
	if c.answered && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	return fmt.Errorf("no answer: %w", err)
}

// maxInterim bounds the interim answers (1xx) before the real one.
const maxInterim = 5

// posted is what net/http needs to know of a request to read its answer.
var posted = &http.Request{Method: http.MethodPost}

// receive reads an answer's status and headers.
func (c *connection) receive() (*http.Response, error) {
	for range maxInterim {
		response, err := http.ReadResponse(c.in, posted)
		switch {
		case err != nil && c.limit.left == 0: // wherever that cut it off
			return nil, fmt.Errorf("the answer's headers are longer than %d bytes", c.maxHeader)
		case err != nil && c.limit.failed != nil: // not what was left of a line
			return nil, c.limit.failed
		case err != nil:
			return nil, err
		case response.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("the answer wants to switch protocols")
		case response.StatusCode >= http.StatusOK:
			c.limit.left = -1
			c.answered = true
			return response, nil
		}
	}
	return nil, fmt.Errorf("there were more than %d interim answers", maxInterim)
}

// limited reads from a connection no more than is left, where that is not
// negative.
type limited struct {
	conn net.Conn
	left int
	// failed is the last read's error. Of a line that it cuts off, net/http tells
	// that it is malformed.
	failed error
}

var errLimit = errors.New("the answer's headers are too long")

func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, errLimit
	}
	if l.left > 0 && len(p) > l.left {
		p = p[:l.left]
	}
	n, err := l.conn.Read(p)
	l.failed = err
	if l.left > 0 {
		l.left -= n
	}
	return n, err
}
