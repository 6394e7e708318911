package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// ErrTLS says that a TLS handshake failed. Nothing was sent.
var ErrTLS = errors.New("the TLS handshake failed")

// Options configure a Client. All fields are required.
type Options struct {
	// Dial connects to host:port.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is the configuration for https. The client sets the server name and the
	// protocols for each destination.
	TLS *tls.Config
	// HandshakeTimeout is the timeout of the TLS handshake.
	HandshakeTimeout time.Duration
	// MaxIdle is the maximum number of idle HTTP/1.1 connections per destination.
	MaxIdle int
	// IdleTimeout is the maximum time that a connection stays idle.
	IdleTimeout time.Duration
	// PingAfter is the silence after which an HTTP/2 connection is checked by a ping, and
	// the time that the server has to respond. Zero checks no connection.
	PingAfter time.Duration
	// MaxHeader and MaxBody limit a response, in bytes. The client does not read a body
	// beyond MaxBody, and closes the connection.
	MaxHeader, MaxBody int
	// BodyTimeout is the timeout for reading a response's body. After the timeout the
	// client closes the connection.
	BodyTimeout time.Duration
}

// Client posts to many destinations. It is safe for concurrent use.
type Client struct {
	options Options
	pool    *pool
	// http2 makes HTTP/2 connections of net/http from existing connections.
	http2 *http.Transport
}

// New returns a client. Close ends it.
func New(o Options) *Client {
	return &Client{options: o, pool: newPool(o.MaxIdle, o.IdleTimeout), http2: newHTTP2Transport(o)}
}

// Close closes idle connections now, and connections in use after their requests.
func (c *Client) Close() { c.pool.close() }

// Header is a header of one request. Name and Value must be valid.
type Header struct{ Name, Value string }

// Keep is the number of bytes of a response's body to store: Success if the status is
// 2xx, otherwise Failure. Neither may exceed Options.MaxBody.
type Keep struct{ Success, Failure int }

// Request is one POST request.
type Request struct {
	Body    []byte
	Headers []Header
	Keep    Keep
	// Deadline ends the request. If it is zero, only the context does. Deadline costs
	// less than a context with a deadline, which needs a timer.
	Deadline time.Time
}

// Response is a destination's response.
type Response struct {
	Status int
	Header http.Header
	// Body is the stored part of the body. See Request.Keep.
	Body []byte
}

// maxTries limits how often a request is sent. See Target.Do.
const maxTries = 4

// Do sends a request and reads its response. It ends with ctx at the latest. It writes
// the durations of the request's phases to timing.
//
// The other side may close an idle connection at any time. A used connection may end
// before the first byte of this request's response. Do then sends the request again on a
// new connection. Do also repeats a request that an HTTP/2 server refused unprocessed.
//
// Errors: the errors of ctx and of the network, ErrTLS. An error with a response says
// that the response's body was cut off.
func (t *Target) Do(ctx context.Context, r *Request, timing *Timing) (*Response, error) {
	fresh := false
	for try := 1; ; try++ {
		response, err := t.do(ctx, r, timing, fresh)
		switch {
		case err == nil, try == maxTries, ctx.Err() != nil:
			return response, because(ctx, err)
		case errors.Is(err, errStale):
			fresh = true
		case !errors.Is(err, errProtocol):
			return response, err
		}
	}
}

// do sends a request once. If fresh is set, HTTP/1.1 uses no idle connection. Errors:
// errStale, errProtocol.
func (t *Target) do(ctx context.Context, r *Request, timing *Timing, fresh bool) (*Response, error) {
	if t.destination.speaks.Load() == int32(HTTP2) {
		return t.doHTTP2(ctx, r, timing)
	}
	return t.doHTTP1(ctx, r, timing, fresh)
}

// errProtocol says that the destination speaks the other protocol. The destination
// records the protocol. Nothing was sent.
var errProtocol = errors.New("the destination speaks another protocol")

// errStale says that a request got no response and may be sent again. Its connection was
// already closed, or the server did not process the request.
var errStale = errors.New("the connection was closed")

// because adds the context's error if the context has ended.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

// kept returns the number of body bytes to store for a status.
func (r *Request) kept(status int) int {
	if status < 200 || status > 299 {
		return r.Keep.Failure
	}
	return r.Keep.Success
}
