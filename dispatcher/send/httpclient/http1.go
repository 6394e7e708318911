package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// errDropped says that a connection failed the check. Nothing was sent.
var errDropped = errors.New("the connection was dropped")

// doHTTP1 sends a request once, over an idle connection unless fresh is set.
// Errors: errStale, errProtocol.
func (t *Target) doHTTP1(ctx context.Context, r *Request, timing *Timing, fresh bool) (*Response, error) {
	for !fresh {
		c, err := t.destination.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if c == nil {
			break
		}
		response, err := t.exchange(ctx, c, r, timing)
		if !errors.Is(err, errDropped) {
			return response, err
		}
	}
	conn, err := t.connectHTTP1(ctx, r.Deadline, timing)
	if !fresh {
		t.destination.dialed()
	}
	if err != nil {
		return nil, err
	}
	return t.exchange(ctx, newHTTP1Conn(conn, t.client.options.MaxHeader), r, timing)
}

// connectHTTP1 opens a connection for HTTP/1.1. It offers only HTTP/1.1, because servers
// prefer HTTP/2 if both are offered. Errors: errProtocol.
func (t *Target) connectHTTP1(ctx context.Context, deadline time.Time, timing *Timing) (net.Conn, error) {
	if t.destination.speaks.Load() == int32(HTTP2) { // discovered while this request waited
		return nil, errProtocol
	}
	conn, err := t.connect(ctx, deadline, timing, alpnHTTP1)
	if err != nil {
		if errors.Is(err, errNoProtocol) && t.Protocol != HTTP1 {
			t.destination.speaks.Store(int32(HTTP2))
			return nil, fmt.Errorf("%w: %w", errProtocol, err)
		}
		return nil, err
	}
	// A destination that chooses no protocol may support none, or HTTP/2 only.
	secure, ok := conn.(*tls.Conn)
	if ok && secure.ConnectionState().NegotiatedProtocol == "" && t.destination.speaks.Load() != int32(HTTP1) {
		t.destination.speaks.CompareAndSwap(int32(Auto), int32(HTTP2))
		_ = conn.Close()
		return nil, fmt.Errorf("%w: it chose none", errProtocol)
	}
	return conn, nil
}

// exchange sends a request over a connection and reads its response. Afterwards the
// connection is idle or closed.
func (t *Target) exchange(ctx context.Context, c *http1Conn, r *Request, timing *Timing) (*Response, error) {
	unbind := c.bind(ctx, r.Deadline)
	response, reusable, err := t.roundTrip(c, r, timing)
	if unbind() && reusable && c.reader.Buffered() == 0 {
		t.destination.put(c)
	} else {
		c.close()
	}
	return response, err
}

func (t *Target) roundTrip(c *http1Conn, r *Request, timing *Timing) (response *Response, reusable bool, err error) {
	if err := c.check(); err != nil {
		return nil, false, fmt.Errorf("%w: %w", errDropped, err)
	}
	c.assemble(t.head, r)
	started := time.Now()
	written, err := c.send()
	c.lastUsed = time.Now()
	timing.FirstByte = c.lastUsed.Sub(started)
	if err != nil {
		return nil, false, err
	}
	if response, ok := c.plain(r.Keep.Success); ok {
		return response, written, nil
	}
	received, err := c.receive() //nolint:bodyclose // the body is the connection, which is kept or closed as a whole
	if err != nil {
		return nil, false, err
	}
	c.hurry(t.client.options.BodyTimeout)
	response = &Response{Status: received.StatusCode, Header: received.Header}
	whole, err := response.read(received.Body, r.kept(response.Status), t.client.options.MaxBody)
	return response, written && whole && !received.Close, err
}

// read reads a body up to a maximum, and stores its beginning. whole reports whether the
// body has ended.
func (a *Response) read(body io.Reader, kept, most int) (whole bool, err error) {
	if kept > 0 {
		if a.Body, err = io.ReadAll(io.LimitReader(body, int64(kept))); err != nil {
			return false, err
		}
	}
	_, err = io.CopyN(io.Discard, body, int64(most-len(a.Body)))
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}
