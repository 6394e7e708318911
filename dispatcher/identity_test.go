package dispatcher

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// client makes a certificate for a client, and its key, in PEM.
func (a *authority) client(t testing.TB, name string) (certificate, key string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// Endpoints at one destination show each its own certificate, on connections of its
// own, and one without any is turned away: over TLS 1.2, which asks in the handshake,
// and 1.3, where the refusal comes after it. Nothing is resumed under another's name.
func TestClientCertificates(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		a := newAuthority(t)
		var mu sync.Mutex
		seen := map[string]string{} // the certificate's name by endpoint
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.Header.Get("X-Endpoint")] += r.TLS.PeerCertificates[0].Subject.CommonName + " "
			if r.ProtoMajor != 1 {
				t.Errorf("it came over %s", r.Proto)
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
		inStore(t, func(w *world) {
			send := func(id string) attempt {
				var e *endpoint
				err := w.store.View(func(v storage.View) (err error) {
					e, err = newEndpoints(w.vault, 1, maxSlowEach).get(v, "org", id)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return post(t, s, e)
			}
			identify := func(id, name string) {
				w.endpoint(id, func(e *storage.WebhookEndpoint) {
					e.URL, e.Headers = server.URL, map[string]string{"X-Endpoint": id}
					if name != "" {
						certificate, key := a.client(t, name)
						e.ClientCertificate = &storage.ClientCertificate{Certificate: certificate, SealedKey: w.vault.Seal("org", id, key)}
					}
				})
			}
			identify("one", "first")
			identify("two", "second")
			identify("bare", "")
			for range 2 {
				for _, id := range []string{"one", "bare", "two"} {
					got := send(id)
					// Of TLS 1.3, the reset may overtake the alert.
					told := version == tls.VersionTLS13 || classify(&got) == events.ErrorTLS
					if ok := judge(got) == delivered; ok != (id != "bare") || !ok && !told {
						t.Errorf("%s, TLS %x: it is %+v, of the class %s", id, version, got, classify(&got))
					}
				}
			}
			identify("one", "renewed")
			if got := send("one"); judge(got) != delivered {
				t.Errorf("with another certificate it is %+v", got)
			}
		})
		server.Close()
		if seen["one"] != "first first renewed " || seen["two"] != "second second " || len(seen) != 2 {
			t.Errorf("TLS %x: seen were %v", version, seen)
		}
	}
}
