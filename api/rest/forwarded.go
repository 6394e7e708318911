package rest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers in which a proxy passes on the address of its client.
const (
	headerXForwardedFor = "X-Forwarded-For"
	headerForwarded     = "Forwarded" // RFC 7239
)

// Proxies configures the reverse proxies in front of the listener. The zero value trusts
// no proxy.
type Proxies struct {
	// Trusted has the addresses of trusted proxies.
	Trusted []netip.Prefix
	// Forwarded selects the header Forwarded instead of X-Forwarded-For. Only one header
	// is read. A proxy that sets one header passes on the client's value of the other.
	Forwarded bool
}

// client returns the address of the last hop that is not a trusted proxy. The hops are
// the entries of the proxies' header, followed by the connected peer. Earlier entries are
// not trustworthy because a client can send any value.
func (p Proxies) client(peer netip.Addr, h http.Header) netip.Addr {
	name, address := headerXForwardedFor, forwardedFor
	if p.Forwarded {
		name, address = headerForwarded, forwardedElement
	}
	hops := strings.Split(strings.Join(h.Values(name), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !p.trust(peer) {
			break
		}
		addr, ok := address(hop)
		if !ok { // hidden by a proxy, or absent
			break
		}
		peer = addr
	}
	return peer
}

// trust reports whether an address belongs to a trusted proxy.
func (p Proxies) trust(ip netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(t netip.Prefix) bool { return t.Contains(ip) })
}

// forwardedFor parses an address with or without a port.
func forwardedFor(hop string) (netip.Addr, bool) {
	hop = strings.TrimSpace(hop)
	if with, err := netip.ParseAddrPort(hop); err == nil {
		return with.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(hop, "["), "]"))
	return addr.Unmap(), err == nil
}

// forwardedElement parses the "for" of an element such as
// for="[2001:db8::1]:80";proto=https.
func forwardedElement(hop string) (netip.Addr, bool) {
	for pair := range strings.SplitSeq(hop, ";") {
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "for") {
			return forwardedFor(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return netip.Addr{}, false
}

// clientAddress returns the network of the client.
func (s *Server) clientAddress(r *http.Request) string {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	const own = 64 // bits that a client usually has to itself
	return network(s.Options.Proxies.client(addr.Addr().Unmap(), r.Header), own)
}

// network returns a client's IPv4 address, or the prefix of its IPv6 address with a number of
// bits.
func network(ip netip.Addr, bits int) string {
	if ip = ip.WithZone(""); ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.Prefix(bits) // an IPv6 address has enough bits
	return prefix.String()
}
