package send

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

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
)

// trusting is a sender that trusts a test server's certificate.
func trusting(t *testing.T, server *httptest.Server) *Sender {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := New(Options{Dial: (&net.Dialer{}).DialContext, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, IdlePerDestination: 4})
	t.Cleanup(s.Close)
	return s
}

// HTTP/2 sends the same as HTTP/1.1, with the same results.
func TestSend_HTTP2(t *testing.T) {
	for _, multiplexed := range []bool{false, true} {
		answer := http.StatusAccepted
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			hook, _ := standardwebhooks.NewWebhook(testSecret)
			if err := hook.Verify(body, r.Header); err != nil || (r.ProtoMajor == 2) != multiplexed || r.Header.Get("X-Own") != "yes" {
				t.Errorf("sent %v over %s: %v", r.Header, r.Proto, err)
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(answer)
			_, _ = io.WriteString(w, strings.Repeat("x", 2*KeptResponse))
		}))
		server.EnableHTTP2 = multiplexed
		server.StartTLS()
		s := trusting(t, server)
		e := endpointAt(t, server.URL, time.Minute)
		e.Protocol = httpclient.HTTP2
		for _, answer = range []int{http.StatusAccepted, http.StatusServiceUnavailable, http.StatusGone} {
			a := post(t, s, e)
			if a.Err != nil || a.Status != answer {
				t.Errorf("over HTTP/2 %v: %+v", multiplexed, a)
			}
			if answer == http.StatusServiceUnavailable && (a.RetryAfter != 7*time.Second || len(a.Response) != KeptResponse) {
				t.Errorf("over HTTP/2 %v: a delay of %s and %d bytes stored", multiplexed, a.RetryAfter, len(a.Response))
			}
		}
		s.Close()
		server.Close()
	}
}
