package send

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Egress configures the connections to destinations. The zero value connects directly and
// trusts the system's certificate authorities.
type Egress struct {
	// Roots are the trusted certificate authorities, nil for the system's.
	Roots *x509.CertPool
	// Proxy receives every connection as a CONNECT request, nil for none. Its scheme is
	// http or https.
	Proxy *url.URL
}

const keepAlive = 30 * time.Second

// dialer returns a function that connects to destinations that the guard allows. An
// allowed host is the operator's choice, so dialer does not check its resolved addresses.
func (e Egress) dialer(g Guard) func(ctx context.Context, network, address string) (net.Conn, error) {
	direct := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	if e.Proxy != nil {
		return (&tunnel{guard: g, proxy: e.Proxy, dialer: direct}).dial
	}
	guarded := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Control: g.control}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if g.Allowed.names(address) {
			return direct.DialContext(ctx, network, address)
		}
		conn, err := guarded.DialContext(ctx, network, address)
		if errors.Is(err, errBlocked) {
			err = errBlocked // package net adds the address
		}
		return conn, err
	}
}

// tunnel connects through a proxy. It resolves names and checks the addresses itself. It
// passes an address to the proxy, because the proxy could resolve the name differently.
type tunnel struct {
	guard  Guard
	proxy  *url.URL
	dialer *net.Dialer
}

var errProxy = errors.New("the egress proxy did not connect")

func (t *tunnel) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if t.guard.Allowed.names(address) {
		return t.connect(ctx, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errNotAllowed, address, err)
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("%w: %s has no address", errNotAllowed, host)
	for _, addr := range addrs {
		resolved := net.JoinHostPort(addr.Unmap().String(), port)
		if err = t.guard.control(network, resolved, nil); err != nil {
			continue
		}
		if conn, err = t.connect(ctx, resolved); err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

// connect opens a connection through the proxy. Errors: errProxy.
func (t *tunnel) connect(ctx context.Context, target string) (net.Conn, error) {
	conn, err := t.dialer.DialContext(ctx, "tcp", t.address())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProxy, withoutAddress(err))
	}
	if t.proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.proxy.Hostname()})
	}
	unhook := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = t.request(conn, target)
	if !unhook() && err == nil {
		err = ctx.Err() // the deadline is set, or about to be
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: %w", errProxy, withoutAddress(err))
	}
	return conn, nil
}

// request asks the proxy for a tunnel.
func (t *tunnel) request(conn net.Conn, target string) error {
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if u := t.proxy.User; u != nil {
		password, _ := u.Password()
		r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := r.Write(conn); err != nil {
		return err
	}
	from := bufio.NewReader(io.LimitReader(conn, maxResponseHeaders))
	response, err := http.ReadResponse(from, r)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // a response to CONNECT has none
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it responded %s", statusLine(response.StatusCode))
	}
	if from.Buffered() > 0 {
		return errors.New("it sent data before the request")
	}
	return nil
}

// address returns the proxy's host and port.
func (t *tunnel) address() string {
	if t.proxy.Port() != "" {
		return t.proxy.Host
	}
	return net.JoinHostPort(t.proxy.Hostname(), map[string]string{"http": "80", "https": "443"}[t.proxy.Scheme])
}

// withoutAddress removes the proxy's address, because partners read the error in delivery
// logs.
func withoutAddress(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// Allowed are destinations that the operator allows in addition to the public internet.
// They also require https.
type Allowed struct {
	// Ranges of addresses are allowed on ports 443 and 8443.
	Ranges []netip.Prefix
	// Hosts are names or addresses with the port, such as receiver.internal:9443.
	Hosts []string
}

// names reports whether an address to dial is an allowed host.
func (a Allowed) names(address string) bool {
	host, port, err := net.SplitHostPort(strings.ToLower(address))
	if err != nil {
		return false
	}
	address = net.JoinHostPort(strings.TrimSuffix(host, "."), port)
	return slices.Contains(a.Hosts, address)
}

// contains reports whether an address is in an allowed range.
func (a Allowed) contains(addr netip.Addr) bool {
	return inAny(a.Ranges, addr.Unmap())
}

// inAny reports whether an address is in any of the ranges.
func inAny(ranges []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
}
