package send

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
)

func TestAllowed_URLs(t *testing.T) {
	g := Guard{Allowed: Allowed{
		Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")},
		Hosts:  []string{"receiver.internal:9443", "127.0.0.1:8443"},
	}}
	for raw, want := range map[string]bool{
		"https://receiver.internal:9443/x": true, "https://RECEIVER.internal.:9443/x": true, "https://127.0.0.1:8443/": true,
		"https://10.1.2.3/": true, "https://10.1.2.3:8443/": true, "https://[fd00:1::7]/": true, "https://hooks.example.com/": true,
		"https://receiver.internal/": false, "http://receiver.internal:9443/x": false, "https://other.internal:9443/": false,
		"https://127.0.0.1/": false, "https://10.2.0.1/": false, "https://10.1.2.3:9443/": false, "http://10.1.2.3/": false, "https://93.184.215.14/": false,
		"https://hooks.example.com:9443/": false, "https://u:p@receiver.internal:9443/": false,
	} {
		if err := g.CheckURL(raw); (err == nil) != want {
			t.Errorf("%s: %v, want it allowed: %t", raw, err, want)
		}
	}
	for address, want := range map[string]bool{
		"10.1.2.3:443": true, "10.1.2.3:80": false, "10.2.0.1:443": false, "[fd00:1::7]:8443": true, "[::ffff:10.1.2.3]:443": true, "169.254.169.254:443": false,
	} {
		if err := g.control("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v, want it allowed: %t", address, err, want)
		}
	}
}

// secureReceiver returns a receiver over TLS, the pool that trusts it and its host and
// port.
func secureReceiver(t *testing.T) (roots *x509.CertPool, host string) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots, strings.TrimPrefix(s.URL, "https://")
}

func attempt(t *testing.T, o Options, host string) Attempt {
	t.Helper()
	s := New(o)
	defer s.Close()
	u, err := url.Parse("https://" + host + "/hook")
	if err != nil {
		t.Fatal(err)
	}
	return s.Send(context.Background(), &Destination{TargetOptions: httpclient.TargetOptions{URL: u, Header: http.Header{}}, Timeout: time.Minute}, &Request{At: time.Now(), ID: "msg_1", Body: []byte("{}")})
}

// A host is reached only if it is allowed and its authority is trusted.
func TestEgress_AllowedHostAndAuthority(t *testing.T) {
	roots, host := secureReceiver(t)
	allowed := Guard{Allowed: Allowed{Hosts: []string{host}}}
	if a := attempt(t, Options{Guard: allowed, Egress: Egress{Roots: roots}}, host); a.Err != nil || a.Status != http.StatusOK {
		t.Errorf("allowed and trusted: %d %v", a.Status, a.Err)
	}
	if a := attempt(t, Options{Guard: allowed}, host); a.Err == nil {
		t.Errorf("an unknown authority: %d", a.Status)
	}
	if a := attempt(t, Options{Egress: Egress{Roots: roots}}, host); !errors.Is(a.Err, errNotAllowed) {
		t.Errorf("not allowed: %d %v", a.Status, a.Err)
	}
}

// proxy is an HTTP proxy with a password that records the requested addresses.
type proxy struct {
	url *url.URL

	mu    sync.Mutex
	asked []string
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p, handler := &proxy{}, goproxy.NewProxyHttpServer()
	handler.Logger = silent{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic dXM6c2VjcmV0" { // us:secret
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		p.mu.Lock()
		p.asked = append(p.asked, r.Host)
		p.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	p.url, _ = url.Parse(s.URL)
	p.url.User = url.UserPassword("us", "secret")
	return p
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// Every connection goes through the proxy, to an address that the guard has allowed.
func TestEgress_Proxy(t *testing.T) {
	roots, host := secureReceiver(t)
	_, port, _ := net.SplitHostPort(host)
	p := newProxy(t)
	through := Egress{Roots: roots, Proxy: p.url}
	allowed := Guard{Allowed: Allowed{Hosts: []string{host}}}
	if a := attempt(t, Options{Guard: allowed, Egress: through}, host); a.Err != nil || a.Status != http.StatusOK {
		t.Errorf("through the proxy: %d %v", a.Status, a.Err)
	}
	if a := attempt(t, Options{Guard: Guard{AllowPrivate: true}, Egress: through}, "localhost:"+port); a.Err == nil || errors.Is(a.Err, errProxy) {
		t.Errorf("a name that is not in the certificate: %d %v", a.Status, a.Err)
	}
	p.mu.Lock()
	if asked := strings.Join(p.asked, " "); !strings.HasPrefix(asked, host+" ") || strings.Contains(asked, "localhost") {
		t.Errorf("the proxy got requests for %s, want only addresses", asked)
	}
	p.asked = nil
	p.mu.Unlock()
	if a := attempt(t, Options{Egress: through}, "localhost:443"); !errors.Is(a.Err, errNotAllowed) {
		t.Errorf("a name of a private address: %d %v", a.Status, a.Err)
	}
	if len(p.asked) > 0 {
		t.Errorf("the proxy got requests for %s", p.asked)
	}
	stranger := *p.url
	stranger.User = nil
	for name, proxy := range map[string]*url.URL{
		"without the password": &stranger, "no proxy there": {Scheme: "http", Host: "127.0.0.1:1"},
		"no TLS": {Scheme: "https", Host: p.url.Host}, "an unknown authority": {Scheme: "https", Host: host},
	} {
		a := attempt(t, Options{Guard: allowed, Egress: Egress{Roots: roots, Proxy: proxy}}, host)
		if !errors.Is(a.Err, errProxy) || a.ErrorClass() != events.ErrorConnect || strings.Contains(a.Err.Error(), proxy.Host) || strings.Contains(a.Reason(), "secret") {
			t.Errorf("%s: %d %v, of the class %q", name, a.Status, a.Err, a.ErrorClass())
		}
	}
}
