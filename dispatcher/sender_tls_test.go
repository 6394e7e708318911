package dispatcher

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// trusting is a sender that trusts a test server's certificate.
func trusting(t *testing.T, server *httptest.Server) *sender {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := newSenderOver((&net.Dialer{}).DialContext, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, 4)
	t.Cleanup(s.close)
	return s
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
