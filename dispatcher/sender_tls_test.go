package dispatcher

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func TestTLSFailures(t *testing.T) {
	silent := func(w http.ResponseWriter, _ *http.Request) { t.Error("a request came through") }
	unknown := httptest.NewUnstartedServer(http.HandlerFunc(silent))
	unknown.Config.ErrorLog = quiet
	unknown.StartTLS()
	defer unknown.Close()
	old := httptest.NewUnstartedServer(http.HandlerFunc(silent))
	old.Config.ErrorLog = quiet
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11} //nolint:gosec // what is to be refused
	old.StartTLS()
	defer old.Close()
	for name, address := range map[string]string{
		"an unknown authority":         unknown.Listener.Addr().String(),
		"TLS 1.1":                      old.Listener.Addr().String(),
		"plain HTTP on the port":       sink(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); hang(c) }),
		"the handshake hangs":          sink(t, hang),
		"closed after the first hello": sink(t, func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 5)) }),
		"reset after the first hello":  sink(t, func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 5)); reset(c) }),
	} {
		a := post(t, newTestSender(t), endpointAt(t, "https://"+address, 500*time.Millisecond))
		if a.err == nil || a.status != 0 || judge(a) != again {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// trusting is a sender that trusts a test server's certificate.
func trusting(t *testing.T, server *httptest.Server) *sender {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := newSenderOver((&net.Dialer{}).DialContext, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, 4)
	t.Cleanup(s.close)
	return s
}

func TestACertificateOfAnotherHost(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request came through") }))
	server.Config.ErrorLog = quiet
	server.StartTLS()
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	a := post(t, trusting(t, server), endpointAt(t, "https://localhost:"+port, time.Minute)) // it is for 127.0.0.1 and example.com
	var wrong x509.HostnameError
	if !errors.As(a.err, &wrong) {
		t.Errorf("it is %+v", a)
	}
}

// Over HTTP/2 as over HTTP/1.1 the same is sent, and the same comes of it.
func TestOverHTTP2(t *testing.T) {
	for _, multiplexed := range []bool{false, true} {
		answer := http.StatusAccepted
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			hook, _ := standardwebhooks.NewWebhook(testSecret)
			if err := hook.Verify(body, r.Header); err != nil || (r.ProtoMajor == 2) != multiplexed || r.Header.Get("X-Own") != "yes" {
				t.Errorf("it sent %v over %s: %v", r.Header, r.Proto, err)
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(answer)
			_, _ = io.WriteString(w, strings.Repeat("x", 2*keptAnswer))
		}))
		server.EnableHTTP2 = multiplexed
		server.StartTLS()
		s := trusting(t, server)
		e := endpointAt(t, server.URL, time.Minute)
		for _, answer = range []int{http.StatusAccepted, http.StatusServiceUnavailable, http.StatusGone} {
			a := post(t, s, e)
			if a.err != nil || a.status != answer || e.http2.Load() != multiplexed {
				t.Errorf("over HTTP/2 %v: %+v", multiplexed, a)
			}
			if answer == http.StatusServiceUnavailable && (a.retryAfter != 7*time.Second || len(a.answer) != keptAnswer) {
				t.Errorf("over HTTP/2 %v: a pause of %s and %d bytes kept", multiplexed, a.retryAfter, len(a.answer))
			}
		}
		s.close()
		server.Close()
	}
}
