package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"
)

// Protocol is the HTTP version of a target over TLS. Without TLS it is always HTTP/1.1.
type Protocol int

const (
	// Auto uses HTTP/1.1, and HTTP/2 if the destination refuses HTTP/1.1. With a client
	// certificate, Auto means HTTP1.
	Auto Protocol = iota
	// HTTP1 uses HTTP/1.1 only.
	HTTP1
	// HTTP2 uses HTTP/2, and HTTP/1.1 if the destination does not offer HTTP/2.
	HTTP2
)

// Protocol names in the TLS handshake (ALPN).
const (
	alpnHTTP1 = "http/1.1"
	alpnHTTP2 = "h2"
)

// TargetOptions describe a target.
type TargetOptions struct {
	// URL has the scheme http or https.
	URL *url.URL
	// Header is sent with every request. Names and values must be valid.
	Header http.Header
	// Organization owns the target. Targets of different organizations never share a
	// connection.
	Organization string
	// Identity is the client certificate for destinations that request one.
	Identity Identity
	// Protocol is the version of HTTP.
	Protocol Protocol
}

// Identity is a client certificate. Connections of one identity are not used with another
// identity.
type Identity struct {
	// Name distinguishes identities.
	Name        string
	Certificate *tls.Certificate
}

// Target is a URL with the headers of every request to it.
type Target struct {
	TargetOptions

	client      *Client
	destination *destination
	address     string // host:port
	head        []byte // the request line and the common headers of HTTP/1.1
}

// Target prepares a target.
func (c *Client) Target(o TargetOptions) *Target {
	t := &Target{TargetOptions: o, client: c, address: o.URL.Host, head: requestHead(o.URL, o.Header)}
	port := "443"
	switch {
	case o.URL.Scheme != "https":
		port, t.Protocol = "80", HTTP1
	case o.Identity.Certificate != nil && t.Protocol == Auto: // servers that request a certificate late cannot do so over HTTP/2
		t.Protocol = HTTP1
	}
	if o.URL.Port() == "" {
		t.address = net.JoinHostPort(o.URL.Hostname(), port)
	}
	t.destination = c.pool.destination(destinationKey{
		organization: o.Organization, scheme: o.URL.Scheme, address: t.address, identity: o.Identity.Name, protocol: t.Protocol,
	})
	return t
}

func requestHead(u *url.URL, header http.Header) []byte {
	const enough = 512 // for most targets
	head := make([]byte, 0, enough)
	head = append(append(append(head, "POST "...), u.RequestURI()...), " HTTP/1.1\r\n"...)
	head = appendHeader(head, "Host", u.Host)
	for _, name := range slices.Sorted(maps.Keys(header)) {
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

// connect dials, and performs the TLS handshake for https with the given protocols. It
// ends at the deadline unless it is zero. Errors: errNoProtocol.
func (t *Target) connect(ctx context.Context, deadline time.Time, timing *Timing, protocols ...string) (net.Conn, error) {
	if !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	started := time.Now()
	traced, resolution := resolving(ctx)
	raw, err := t.client.options.Dial(traced, "tcp", t.address)
	timing.DNS = *resolution
	timing.Connect = time.Since(started) - timing.DNS
	if err != nil {
		return nil, because(ctx, err)
	}
	checked := newCheckedConn(raw)
	if t.URL.Scheme != "https" {
		return checked, nil
	}
	secure := tls.Client(checked, t.tls(protocols))
	handshake, cancel := context.WithTimeout(ctx, t.client.options.HandshakeTimeout)
	defer cancel()
	started = time.Now()
	err = secure.HandshakeContext(handshake)
	timing.TLS = time.Since(started)
	if err == nil {
		return secure, nil
	}
	_ = raw.Close()
	if isAlert(err, alertNoApplicationProtocol) {
		return nil, fmt.Errorf("%w: %w: %w", ErrTLS, errNoProtocol, err)
	}
	return nil, because(ctx, fmt.Errorf("%w: %w", ErrTLS, err))
}

// tls returns the configuration of a connection with the given protocols.
func (t *Target) tls(protocols []string) *tls.Config {
	config := t.client.options.TLS.Clone()
	config.ServerName, config.NextProtos = t.URL.Hostname(), protocols
	config.DynamicRecordSizingDisabled = true // small first records help pages, but each is a packet
	if certificate := t.Identity.Certificate; certificate != nil {
		config.ClientSessionCache = nil // otherwise an identity could resume another identity's session
		// The client sends the certificate whatever authorities the destination names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	return config
}

// errNoProtocol says that the destination accepts none of the offered protocols.
var errNoProtocol = errors.New("the destination does not offer the protocol")

// alertNoApplicationProtocol is no_application_protocol of RFC 7301.
const alertNoApplicationProtocol = 120

// isAlert reports whether an error is a TLS alert from the other side. crypto/tls does
// not export the type of the alert, so isAlert reads its number by reflection.
func isAlert(err error, number uint64) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	if !ok || operation.Op != "remote error" {
		return false
	}
	alert := reflect.ValueOf(operation.Err)
	return alert.Kind() == reflect.Uint8 && alert.Uint() == number
}
