package rest

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestProxies_Client(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	both := func(xff, forwarded string) http.Header {
		return http.Header{headerXForwardedFor: {xff}, headerForwarded: {forwarded}}
	}
	xff := func(hops ...string) http.Header { return http.Header{headerXForwardedFor: hops} }
	for name, tt := range map[string]struct {
		peer      string
		header    http.Header
		forwarded bool
		want      string
	}{
		"no proxy":                     {"192.0.2.9", http.Header{}, false, "192.0.2.9"},
		"not trusted":                  {"192.0.2.9", xff("198.51.100.1"), false, "192.0.2.9"},
		"a proxy":                      {"10.0.0.1", xff("198.51.100.1"), false, "198.51.100.1"},
		"a proxy that tells nothing":   {"10.0.0.1", http.Header{}, false, "10.0.0.1"},
		"two proxies":                  {"10.0.0.1", xff("198.51.100.1, 10.0.0.2"), false, "198.51.100.1"},
		"two headers":                  {"10.0.0.1", xff("198.51.100.1", "10.0.0.2"), false, "198.51.100.1"},
		"a forged hop":                 {"10.0.0.1", xff("203.0.113.66, 198.51.100.1"), false, "198.51.100.1"},
		"a forged trusted hop":         {"10.0.0.1", xff("203.0.113.66, 10.9.9.9, 198.51.100.1"), false, "198.51.100.1"},
		"proxies alone":                {"10.0.0.1", xff("10.0.0.3, 10.0.0.2"), false, "10.0.0.3"},
		"no address":                   {"10.0.0.1", xff("198.51.100.1, unknown"), false, "10.0.0.1"},
		"a port":                       {"10.0.0.1", xff("198.51.100.1:4711"), false, "198.51.100.1"},
		"IPv6":                         {"fd00::1", xff("2001:db8::1"), false, "2001:db8::1"},
		"IPv6 in brackets with a port": {"fd00::1", xff("[2001:db8::1]:4711"), false, "2001:db8::1"},
		"IPv4 in IPv6":                 {"10.0.0.1", xff("::ffff:198.51.100.1"), false, "198.51.100.1"},
		"the other header is not read": {"10.0.0.1", both("", "for=198.51.100.1"), false, "10.0.0.1"},
		"nor is this one":              {"10.0.0.1", both("198.51.100.1", ""), true, "10.0.0.1"},
		"Forwarded":                    {"10.0.0.1", both("203.0.113.66", "for=203.0.113.66, FOR=198.51.100.1;proto=https"), true, "198.51.100.1"},
		"Forwarded with IPv6":          {"10.0.0.1", both("", `proto=https; for="[2001:db8::1]:4711", for=10.0.0.2`), true, "2001:db8::1"},
		"Forwarded that hides":         {"10.0.0.1", both("", `for=198.51.100.1, for=_hidden`), true, "10.0.0.1"},
	} {
		p := Proxies{Trusted: trusted, Forwarded: tt.forwarded}
		if got := p.client(netip.MustParseAddr(tt.peer), tt.header); got.String() != tt.want {
			t.Errorf("%s: the client is %s, want %s", name, got, tt.want)
		}
	}
}
