package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Destinations lists where webhooks may go beside the public internet.
type Destinations struct {
	Ranges Prefixes
	// Hosts include their port, such as receiver.internal:9443.
	Hosts []string
}

// hostName matches a host name in its ASCII form, or an IP address.
var hostName = regexp.MustCompile(`^[a-z0-9_:]([a-z0-9_.:-]*[a-z0-9_])?$`)

// UnmarshalText parses a comma-separated list of ranges and hosts. A host without a port
// stands for its ports 443 and 8443.
func (d *Destinations) UnmarshalText(text []byte) error {
	*d = Destinations{}
	for _, item := range List(strings.ToLower(string(text))) {
		var p Prefixes
		if p.UnmarshalText([]byte(item)) == nil {
			d.Ranges = append(d.Ranges, p...)
			continue
		}
		ports := []string{"443", "8443"}
		host, port, err := net.SplitHostPort(item)
		if err == nil {
			ports = []string{port}
		} else {
			host = item
		}
		if n, err := strconv.ParseUint(ports[0], 10, 16); err != nil || n == 0 || !hostName.MatchString(host) || strings.Contains(host, ":") && len(ports) > 1 {
			return errors.New("must be ranges such as 10.1.0.0/16 and hosts such as receiver.internal or receiver.internal:9443, comma-separated")
		}
		for _, port := range ports {
			d.Hosts = append(d.Hosts, net.JoinHostPort(host, port))
		}
	}
	return nil
}

// Prefixes is a list of address ranges.
type Prefixes []netip.Prefix

// UnmarshalText parses a comma-separated list of ranges. An address is a range of one
// address.
func (p *Prefixes) UnmarshalText(text []byte) error {
	*p = nil
	for _, item := range List(string(text)) {
		prefix, err := netip.ParsePrefix(item)
		if addr, noRange := netip.ParseAddr(item); noRange == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || prefix.Addr().Is4In6() || prefix != prefix.Masked() {
			return errors.New("must be addresses or ranges such as 10.0.0.0/8 or 2001:db8::1, comma-separated")
		}
		*p = append(*p, prefix)
	}
	return nil
}

// ProxyURL is the URL of a proxy. The embedded URL is nil if there is no proxy.
type ProxyURL struct{ *url.URL }

// UnmarshalText parses an http or https URL that has a host only.
func (p *ProxyURL) UnmarshalText(text []byte) error {
	return setURL(&p.URL, text, "must be a URL such as http://proxy:3128", func(u *url.URL) bool {
		return (u.Scheme == "http" || u.Scheme == "https") && u.RawQuery == ""
	})
}

// SMTPURL is the URL of an SMTP server. The embedded URL is nil if there is none.
type SMTPURL struct{ *url.URL }

// UnmarshalText parses an smtp or smtps URL. An error does not contain the password.
func (s *SMTPURL) UnmarshalText(text []byte) error {
	const right = "must be a URL such as smtp://user:password@mail.example.com:587, smtps://mail.example.com or smtp://relay:25?tls=none"
	return setURL(&s.URL, text, right, func(u *url.URL) bool {
		return u.Scheme == "smtps" && u.RawQuery == "" || u.Scheme == "smtp" && (u.RawQuery == "" || u.RawQuery == "tls=none")
	})
}

// setURL stores a URL without a path that ok accepts, or nil for an empty text. right is the
// error of other texts.
func setURL(to **url.URL, text []byte, right string, ok func(*url.URL) bool) error {
	*to = nil
	if len(text) == 0 {
		return nil
	}
	u, err := url.Parse(string(text))
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/")+u.Fragment != "" || !ok(u) {
		return errors.New(right)
	}
	*to = u
	return nil
}
