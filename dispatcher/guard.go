package dispatcher

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/idna"

	"github.com/gridhook/gridhook/storage"
)

// Guard decides where webhooks may go. It looks twice: at the URL when an
// endpoint is registered, and at the resolved address of every connection, so
// that a name which resolves elsewhere later gains nothing.
type Guard struct {
	// AllowPrivate lifts the rules on scheme, port and address together.
	AllowPrivate bool
}

// blocked are the address ranges that are not the public internet's, from the
// IANA special-purpose registries (RFC 6890 and its updates), the addresses that
// embed an IPv4 one, and 168.63.129.16, which is Azure's to its own machines.
var blocked = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/96", "::1/128", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23",
	"2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// allowedPorts are where webhooks go unless private destinations are allowed.
var allowedPorts = map[string]bool{"443": true, "8443": true}

// CheckURL judges a destination at registration. Its error is a
// *storage.InvalidError on the field url, nil when the URL is fine. Names are not
// resolved here: what they mean can change, and the connection is checked.
func (g Guard) CheckURL(raw string) error {
	var p storage.Problems
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		p.Addf("url", "must be an absolute URL such as https://example.com/hooks")
		return p.Err()
	}
	if g.AllowPrivate {
		p.Check(u.Scheme == "https" || u.Scheme == "http", "url", "must be an http or https URL")
		return p.Err()
	}
	p.Check(u.Scheme == "https", "url", "must be an https URL")
	port := u.Port()
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		port = "443"
	}
	p.Check(allowedPorts[port], "url", "must be on port 443 or 8443")
	p.Check(u.User == nil, "url", "must not carry a user or password")
	p.Check(strings.IndexFunc(raw, notInURL) < 0, "url", "must not have a fragment, spaces or control characters")
	p.Check(isPublicName(u.Hostname()), "url", "must name a host of the public internet, an international name in its xn-- form")
	return p.Err()
}

func notInURL(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }

// names accepts host names as DNS has them: letters, digits and hyphens, labels
// of up to 63 and names of up to 253 characters, xn-- labels that decode.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(true), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// notPublic are the names, and the ends of names, that mean this machine or
// network, or that only special resolvers know.
var notPublic = []string{"localhost", "local", "internal", "lan", "home.arpa", "localdomain", "svc", "onion"}

// isPublicName judges a host by itself. An address is no name, in any of the
// notations that resolvers take.
func isPublicName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	// What idna would change has another spelling, and that is to be used.
	if ascii, err := names.ToASCII(host); err != nil || ascii != host {
		return false
	}
	for _, end := range notPublic {
		if host == end || strings.HasSuffix(host, "."+end) {
			return false
		}
	}
	return strings.Contains(host, ".") && !looksNumeric(host)
}

// looksNumeric reports whether a host is an address, perhaps in an old notation
// such as 0x7f.1, 017700000001 or 2130706433: some resolvers take them.
func looksNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return true
	}
	return strings.Trim(last, "0123456789") == ""
}

// isBlocked judges a resolved address.
func isBlocked(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return true
	}
	addr = addr.Unmap()
	for _, p := range blocked {
		if p.Contains(addr) {
			return true
		}
	}
	return !addr.IsGlobalUnicast()
}

// control is called with the resolved address before every connection.
func (g Guard) control(network, address string, _ syscall.RawConn) error {
	if g.AllowPrivate {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errNotAllowed, address, err)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || isBlocked(addr) || !allowedPorts[port] || !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("%w: %s is loopback, private, reserved, or not on port 443 or 8443", errNotAllowed, address)
	}
	return nil
}

// errNotAllowed says that webhooks may not go to where a name has led.
var errNotAllowed = errors.New("the destination is not allowed")
