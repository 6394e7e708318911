package send

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/idna"

	"github.com/gridhook/gridhook/storage"
)

// Guard decides where webhooks may go. It checks the URL when an endpoint is registered,
// and the resolved address of every connection. So a name that resolves differently later
// gains nothing.
type Guard struct {
	// AllowPrivate disables the checks of scheme, port and address together.
	AllowPrivate bool
	// Allowed disables the checks of names and addresses for its entries.
	Allowed Allowed
}

// blocked lists the address ranges outside the public internet. They are the ranges of the
// IANA special-purpose registries (RFC 6890 and its updates) and the addresses that embed
// an IPv4 address. 168.63.129.16 is an internal address of Azure's machines.
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

// allowedPorts are the ports of destinations unless AllowPrivate is set.
var allowedPorts = map[string]bool{"443": true, "8443": true}

// maxURL is the maximum length of a destination's URL in bytes.
const maxURL = 2048

// CheckURL checks a destination at registration. It returns nil or a
// *storage.InvalidError on the field url. It does not resolve names, because their
// addresses can change. Guard checks every connection instead.
func (g Guard) CheckURL(raw string) error {
	var p storage.Problems
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		p.Addf("url", "must be an absolute URL such as https://example.com/hooks")
		return p.Err()
	}
	if g.AllowPrivate {
		p.Check(u.Scheme == "https" || u.Scheme == "http", "url", "must be an http or https URL")
		port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
		p.Check(err == nil && port > 0, "url", "must have a port from 1 to 65535, not %s", u.Port())
		return p.Err()
	}
	p.Check(len(raw) <= maxURL, "url", "must have at most %d bytes", maxURL)
	p.Check(u.Scheme == "https", "url", "must be an https URL, not %s: http is for tests, with the operator's setting allow-private-destinations", u.Scheme)
	port := u.Port()
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		port = "443"
	}
	named := g.Allowed.names(net.JoinHostPort(u.Hostname(), port))
	addr, notAddress := netip.ParseAddr(u.Hostname())
	inRange := notAddress == nil && g.Allowed.contains(addr)
	p.Check(named || allowedPorts[port], "url", "must be on port 443 or 8443, not %s"+otherwise, port)
	p.Check(u.User == nil, "url", "must not carry a user or password")
	p.Check(strings.IndexFunc(raw, notInURL) < 0, "url", "must not have a fragment, spaces or control characters")
	p.Check(named || inRange || isPublicName(u.Hostname()), "url", "must name a host of the public internet, not %q (an international name in its xn-- form)"+otherwise, u.Hostname())
	return p.Err()
}

// otherwise says how an operator allows a destination.
const otherwise = ": the operator may allow it with the setting allowed-destinations, or for tests with allow-private-destinations"

func notInURL(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }

// names accepts host names as DNS defines them: letters, digits and hyphens, labels of up
// to 63 and names of up to 253 characters, and valid xn-- labels.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(true), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// notPublic lists names and name suffixes of the local machine or network, and of special
// resolvers.
var notPublic = []string{"localhost", "local", "internal", "lan", "home.arpa", "localdomain", "svc", "onion"}

// isPublicName reports whether a host is a public name. An address is not a name, in any
// notation that resolvers accept.
func isPublicName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	// If idna changes a name, it has another spelling. Only that spelling is accepted.
	if ascii, err := names.ToASCII(host); err != nil || ascii != host {
		return false
	}
	special := slices.ContainsFunc(notPublic, func(end string) bool { return host == end || strings.HasSuffix(host, "."+end) })
	return !special && strings.Contains(host, ".") && !looksNumeric(host)
}

// looksNumeric reports whether a host is an address, perhaps in an old notation such as
// 0x7f.1, 017700000001 or 2130706433. Some resolvers accept these.
func looksNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return true
	}
	return strings.Trim(last, "0123456789") == ""
}

// isBlocked reports whether webhooks may not reach a resolved address.
func isBlocked(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return true
	}
	addr = addr.Unmap()
	return inAny(blocked, addr) || !addr.IsGlobalUnicast()
}

// control checks the resolved address before every connection.
func (g Guard) control(network, address string, _ syscall.RawConn) error {
	if g.AllowPrivate {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errNotAllowed, address, err)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || isBlocked(addr) && !g.Allowed.contains(addr) || !allowedPorts[port] || !strings.HasPrefix(network, "tcp") {
		return errBlocked
	}
	return nil
}

// errNotAllowed says that a name resolved to an address that webhooks may not reach.
var errNotAllowed = errors.New("the destination is not allowed")

// errBlocked does not show the address: partners read it, and a name server inside the
// operator's network may know more than they do.
var errBlocked = fmt.Errorf(
	"%w: its address is loopback, private or reserved, or its port is not 443 or 8443; the operator may allow it with allowed-destinations in every process", errNotAllowed)
