package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// ErrHTTP2 says that a destination prefers HTTP/2, which this client does not
// speak. Nothing was sent.
var ErrHTTP2 = errors.New("the destination speaks HTTP/2")

// ErrTLS says that a TLS handshake failed. Nothing was sent.
var ErrTLS = errors.New("the TLS handshake failed")

// Options say how a client connects and what it accepts. All are needed.
type Options struct {
	// Dial makes a connection to host:port.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is the configuration for https. The server's name and the protocols
	// are set for each destination.
	TLS *tls.Config
	// HandshakeTimeout bounds the TLS handshake.
	HandshakeTimeout time.Duration
	// Idle is how many unused connections are kept for one destination, and
	// IdleTimeout how long.
	Idle        int
	IdleTimeout time.Duration
	// MaxHeader and MaxBody bound an answer, in bytes. What a body has beyond
	// is not read, and costs the connection.
	MaxHeader, MaxBody int
	// BodyTimeout bounds the reading of an answer's body. What has not come by
	// then costs the connection.
	BodyTimeout time.Duration
}

// Client posts to many destinations. It is safe for concurrent use.
type Client struct {
	options Options
	pool    *pool
}

// New makes a client. Close ends it.
func New(o Options) *Client {
	return &Client{options: o, pool: newPool(o.Idle, o.IdleTimeout)}
}

// Close closes the connections that are not in use now, and the others as soon
// as they are not.
func (c *Client) Close() { c.pool.close() }

// Target is one URL with the headers that every request to it has.
type Target struct {
	options *Options
	idle    *idle
	address string      // host:port
	tls     *tls.Config // nil for http
	head    []byte      // the request's first line and common headers
}

// Identity is what a client shows to a destination that asks who it is. Connections
// that were made with one are used with no other.
type Identity struct {
	// Name tells identities apart.
	Name        string
	Certificate *tls.Certificate
}

// Target prepares a URL, whose scheme is http or https. Names and values of the
// headers must be valid.
func (c *Client) Target(u *url.URL, header http.Header) *Target {
	return c.TargetAs(u, header, Identity{})
}

// TargetAs is Target with an identity, which the zero one is not. With one, HTTP/2 is
// not offered, and nothing is resumed that another identity began.
func (c *Client) TargetAs(u *url.URL, header http.Header, as Identity) *Target {
	t := &Target{options: &c.options, address: u.Host}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
		t.tls = c.options.TLS.Clone()
		t.tls.ServerName = u.Hostname()
		t.tls.NextProtos = []string{"h2", "http/1.1"}
		if as.Certificate != nil {
			t.tls.NextProtos = []string{"http/1.1"}
			t.tls.ClientSessionCache = nil
			// Shown whatever authorities the destination names: it knows best
			// what it takes.
			t.tls.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return as.Certificate, nil }
		}
	}
	if u.Port() == "" {
		t.address = net.JoinHostPort(u.Hostname(), port)
	}
	t.idle = c.pool.of(u.Scheme + "://" + t.address + " " + as.Name)
	t.head = requestHead(u, header)
	return t
}

func requestHead(u *url.URL, header http.Header) []byte {
	head := []byte("POST " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n")
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			head = appendHeader(head, name, value)
		}
	}
	return head
}

func appendHeader(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// connectBy is connect that gives up at a time, if that is not zero.
func (t *Target) connectBy(ctx context.Context, by time.Time, timing *Timing) (*connection, error) {
	if by.IsZero() {
		return t.connect(ctx, timing)
	}
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	c, err := t.connect(ctx, timing)
	return c, because(ctx, err)
}

// connect dials, and shakes hands where the destination is https.
func (t *Target) connect(ctx context.Context, timing *Timing) (*connection, error) {
	started := time.Now()
	raw, err := t.options.Dial(timing.resolving(ctx), "tcp", t.address)
	timing.Connect = time.Since(started) - timing.DNS
	if err != nil {
		return nil, err
	}
	if t.tls == nil {
		return newConnection(raw, t.options.MaxHeader), nil
	}
	secure := tls.Client(raw, t.tls)
	shaking, cancel := context.WithTimeout(ctx, t.options.HandshakeTimeout)
	defer cancel()
	started = time.Now()
	err = secure.HandshakeContext(shaking)
	timing.TLS = time.Since(started)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrTLS, err)
	case secure.ConnectionState().NegotiatedProtocol == "h2":
		err = ErrHTTP2
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return newConnection(secure, t.options.MaxHeader), nil
}
