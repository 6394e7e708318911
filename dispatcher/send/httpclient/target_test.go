package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"runtime"
	"sync/atomic"
	"testing"
)

// A URL without a port means the port of its scheme.
func TestTarget_Address(t *testing.T) {
	for raw, want := range map[string]string{
		"http://x.example/hook":       "x.example:80",
		"https://x.example/hook":      "x.example:443",
		"http://x.example:8080/hook":  "x.example:8080",
		"https://x.example:8443/hook": "x.example:8443",
		"http://[::1]/hook":           "[::1]:80",
		"https://[::1]:8443/hook":     "[::1]:8443",
	} {
		for _, protocol := range []Protocol{Auto, HTTP1, HTTP2} {
			var dialed string
			c := newClient(t, new(atomic.Int64))
			c.options.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
				dialed = address
				return nil, errors.New("refused")
			}
			if _, err := targetOver(t, c, raw, protocol, "org").post(patience(t), nil, 0); err == nil || dialed != want {
				t.Errorf("%s over protocol %d dials %s, want %s: %v", raw, protocol, dialed, want, err)
			}
		}
	}
}

// Targets share connections only if the connections are the same in every respect.
func TestTarget_Destination(t *testing.T) {
	c := newClient(t, new(atomic.Int64))
	to := func(raw string, change func(*TargetOptions)) *Target {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		o := TargetOptions{URL: u, Organization: "org", Identity: Identity{Name: "a", Certificate: &tls.Certificate{}}}
		change(&o)
		return c.Target(o)
	}
	same := func(*TargetOptions) {}
	first := to("https://x.example/a", same)
	if to("https://x.example:443/b?c", same).destination != first.destination {
		t.Error("two paths of one destination share no connection")
	}
	for name, other := range map[string]*Target{
		"host":         to("https://y.example/a", same),
		"port":         to("https://x.example:8443/a", same),
		"scheme":       to("http://x.example:443/a", same),
		"organization": to("https://x.example/a", func(o *TargetOptions) { o.Organization = "other" }),
		"identity":     to("https://x.example/a", func(o *TargetOptions) { o.Identity.Name = "b" }),
		"protocol":     to("https://x.example/a", func(o *TargetOptions) { o.Protocol = HTTP2 }),
	} {
		if other.destination == first.destination {
			t.Errorf("targets share connections with another %s", name)
		}
	}
	// A server that requests a certificate late cannot do so over HTTP/2.
	if chosen := to("https://x.example/a", func(o *TargetOptions) { o.Protocol = HTTP2 }); first.Protocol != HTTP1 || chosen.Protocol != HTTP2 {
		t.Errorf("with a certificate Auto means the protocol %d, and HTTP2 the protocol %d", first.Protocol, chosen.Protocol)
	}
	runtime.KeepAlive(first)
}
