package httpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// http1Conn is an HTTP/1.1 connection. Only one request uses it at a time.
type http1Conn struct {
	conn      net.Conn     // a *tls.Conn over checked, or checked itself
	checked   *checkedConn // the network connection
	reader    *bufio.Reader
	limit     *limitedReader // the source of reader
	maxHeader int
	request   []byte    // the buffer of the request's bytes
	used      bool      // a response was read before
	lastUsed  time.Time // of the opening, or of the last response
	probe     [1]byte   // the buffer of check
	// ctx and deadline end the current request.
	ctx      context.Context //nolint:containedctx // of the current request only
	deadline time.Time
}

// maxKeptBuffer limits the buffer that a connection keeps for its next request.
const maxKeptBuffer = 64 << 10

// newHTTP1Conn wraps a connection from connect.
func newHTTP1Conn(conn net.Conn, maxHeader int) *http1Conn {
	inner := conn
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok {
		inner = over.NetConn()
	}
	checked, ok := inner.(*checkedConn)
	if !ok {
		checked = newCheckedConn(conn)
		conn = checked
	}
	limit := &limitedReader{conn: conn, remaining: noLimit}
	return &http1Conn{conn: conn, checked: checked, reader: bufio.NewReader(limit), limit: limit, maxHeader: maxHeader, lastUsed: time.Now()}
}

func (c *http1Conn) close() { _ = c.conn.Close() }

// bind makes the connection's reads and writes end with ctx, and at the deadline unless
// it is zero. unbind reverses it and reports whether ctx was still active.
func (c *http1Conn) bind(ctx context.Context, deadline time.Time) (unbind func() bool) {
	c.ctx, c.deadline = ctx, deadline
	_ = c.conn.SetDeadline(c.deadline) // if the connection is closed, the check fails
	if t := turnOf(ctx); t != nil && t.enter(c) {
		return t.unbind
	}
	return context.AfterFunc(ctx, c.cut)
}

var past = time.Unix(1, 0)

// cut ends the connection's reads and writes now.
func (c *http1Conn) cut() { _ = c.conn.SetDeadline(past) }

// setReadDeadline changes the deadline of reads during a request.
func (c *http1Conn) setReadDeadline(deadline time.Time) {
	_ = c.conn.SetReadDeadline(deadline)
	if c.ctx.Err() != nil { // ctx ended meanwhile, and this call undid cut
		c.cut()
	}
}

// hurry ends the current request after a timeout, unless its deadline is earlier.
func (c *http1Conn) hurry(timeout time.Duration) {
	if soon := time.Now().Add(timeout); c.deadline.IsZero() || soon.Before(c.deadline) {
		c.setReadDeadline(soon)
	}
}

// assemble writes a request into the buffer.
func (c *http1Conn) assemble(head []byte, r *Request) {
	c.request = append(c.request[:0], head...)
	for _, h := range r.Headers {
		c.request = appendHeader(c.request, h.Name, h.Value)
	}
	c.request = append(c.request, "Content-Length: "...)
	c.request = strconv.AppendInt(c.request, int64(len(r.Body)), 10)
	c.request = append(c.request, "\r\n\r\n"...)
	c.request = append(c.request, r.Body...)
}

// maxInlineWrite is the longest request that fits into the systems' buffers even if the
// destination does not read it, in bytes.
const maxInlineWrite = 16 << 10

// send writes the request and waits for the first byte of the response. The response may
// start before the whole request is written. written is false in that case.
func (c *http1Conn) send() (written bool, err error) {
	c.limit.remaining = c.maxHeader
	var writeErr error
	if len(c.request) <= maxInlineWrite {
		_, writeErr = c.conn.Write(c.request)
		_, err = c.reader.Peek(1)
	} else {
		writeErr, err = c.sendLarge()
	}
	if cap(c.request) > maxKeptBuffer {
		c.request = nil
	}
	switch {
	case err == nil:
		return writeErr == nil, nil
	case writeErr != nil:
		err = writeErr
	}
	if c.used && !errors.Is(err, os.ErrDeadlineExceeded) {
		return false, fmt.Errorf("%w: %w", errStale, err)
	}
	return false, fmt.Errorf("no response: %w", err)
}

// sendLarge waits for a response while it writes. Otherwise a destination that responds
// without reading, and stays connected, would block the write.
func (c *http1Conn) sendLarge() (writeErr, readErr error) {
	wrote := make(chan error, 1)
	go func() {
		_, err := c.conn.Write(c.request)
		wrote <- err
	}()
	_, readErr = c.reader.Peek(1)
	_ = c.conn.SetWriteDeadline(past) // has no effect on a finished write
	return <-wrote, readErr
}

// maxInterim limits the number of interim responses (1xx) before the final response.
const maxInterim = 5

// post tells net/http that a response belongs to a POST request.
var post = &http.Request{Method: http.MethodPost}

// receive reads a response's status and headers.
func (c *http1Conn) receive() (*http.Response, error) {
	for range maxInterim {
		response, err := http.ReadResponse(c.reader, post)
		switch {
		case err != nil && c.limit.remaining == 0: // net/http reports a malformed line
			return nil, fmt.Errorf("the response's headers are longer than %d bytes", c.maxHeader)
		case err != nil && c.limit.err != nil: // as above
			return nil, c.limit.err
		case err != nil:
			return nil, err
		case response.StatusCode < http.StatusContinue:
			return nil, fmt.Errorf("the response has the status %d", response.StatusCode)
		case response.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("the response switches protocols")
		case response.StatusCode >= http.StatusOK:
			c.limit.remaining = noLimit
			c.used = true
			return response, nil
		}
	}
	return nil, fmt.Errorf("more than %d interim responses", maxInterim)
}

// noLimit is the limit of reads that no connection reaches, in bytes.
const noLimit = math.MaxInt

// limitedReader reads at most remaining bytes from a connection.
type limitedReader struct {
	conn      net.Conn
	remaining int
	err       error // error of the last read
}

var errLimit = errors.New("the response's headers are too long")

// Read reads from the connection.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.remaining == 0 {
		return 0, errLimit
	}
	n, err := l.conn.Read(p[:min(len(p), l.remaining)])
	l.err = err
	l.remaining -= n
	return n, err
}
