package send

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
)

// client creates a certificate for a client.
func (a *authority) client(t testing.TB, name string) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
}

// Each endpoint at one destination shows its own certificate, on its own connections. One
// without a certificate is refused: by TLS 1.2 in the handshake, by TLS 1.3 after it. No
// session is resumed under another identity.
func TestSend_ClientCertificates(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		a := newAuthority(t)
		var mu sync.Mutex
		seen := map[string]string{} // the certificate's name by endpoint
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.Header.Get("X-Endpoint")] += r.TLS.PeerCertificates[0].Subject.CommonName + " "
			if r.ProtoMajor != 1 {
				t.Errorf("request came over %s", r.Proto)
			}
		}))
		clients := x509.NewCertPool()
		clients.AddCert(a.certificate)
		server.TLS = &tls.Config{
			Certificates: []tls.Certificate{a.issue(t, "127.0.0.1", time.Now().Add(time.Hour))}, MinVersion: version, MaxVersion: version,
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
		}
		server.EnableHTTP2 = true
		server.Config.ErrorLog = quiet
		server.StartTLS()
		s := a.trusted(t)
		destinations := map[string]*Destination{}
		identify := func(id, name string) {
			d := endpointAt(t, server.URL, patient)
			d.Header.Set("X-Endpoint", id)
			if name != "" {
				certificate := a.client(t, name)
				d.Identity = httpclient.Identity{Name: id + " " + name, Certificate: &certificate}
			}
			destinations[id] = d
		}
		identify("one", "first")
		identify("two", "second")
		identify("bare", "")
		for range 2 {
			for _, id := range []string{"one", "bare", "two"} {
				got := post(t, s, destinations[id])
				// With TLS 1.3 the reset may overtake the alert.
				told := version == tls.VersionTLS13 || got.ErrorClass() == events.ErrorTLS
				if ok := got.Verdict() == policy.Delivered; ok != (id != "bare") || !ok && !told {
					t.Errorf("%s, TLS %x: got %+v, of the class %s", id, version, got, got.ErrorClass())
				}
			}
		}
		identify("one", "renewed")
		if got := post(t, s, destinations["one"]); got.Verdict() != policy.Delivered {
			t.Errorf("with another certificate: %+v", got)
		}
		server.Close()
		if seen["one"] != "first first renewed " || seen["two"] != "second second " || len(seen) != 2 {
			t.Errorf("TLS %x: the server saw %v", version, seen)
		}
	}
}
