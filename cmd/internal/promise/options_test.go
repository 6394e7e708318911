package promise

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// gateway is a receiver behind a gateway: it requires a certificate and a token, and
// accepts compressed batches.
type gateway struct {
	certificate []byte // in DER
	verify      *standardwebhooks.Webhook

	mu      sync.Mutex
	wrong   []string
	batches map[string]string // by webhook-id of a message
}

// ServeHTTP accepts a batch.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.take(r); err != nil {
		g.wrong = append(g.wrong, err.Error())
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (g *gateway) take(r *http.Request) error {
	shown := r.TLS.PeerCertificates
	if len(shown) != 1 || !bytes.Equal(shown[0].Raw, g.certificate) || r.Header.Get("Authorization") != "Bearer open-sesame" {
		return fmt.Errorf("%d certificates came, and the authorization %q", len(shown), r.Header.Get("Authorization"))
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if err := g.verify.Verify(body, r.Header); err != nil {
		return fmt.Errorf("the bytes as they came: %w", err)
	}
	inflated, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("it is no gzip: %w", err)
	}
	if body, err = io.ReadAll(inflated); err != nil {
		return err
	}
	if err := g.verify.Verify(body, r.Header); err != nil {
		return fmt.Errorf("the JSON in them: %w", err)
	}
	var batch struct {
		Type string
		Data []struct{ WebhookID, Type string }
	}
	if err := json.Unmarshal(body, &batch); err != nil || batch.Type != "price_signal.batch" {
		return fmt.Errorf("a %s came: %w", batch.Type, err)
	}
	for _, m := range batch.Data {
		g.batches[m.WebhookID] = r.Header.Get("webhook-id")
	}
	return nil
}

// serveTLS serves over TLS, and returns the URL and a file with the certificate to trust.
func (g *gateway) serveTLS(t *testing.T) (url, trusted string) {
	t.Helper()
	server := httptest.NewUnstartedServer(g)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted = filepath.Join(t.TempDir(), "trusted.pem")
	writeFile(t, trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return server.URL, trusted
}

// identity creates a certificate and its key, in PEM.
func (g *gateway) identity(t *testing.T) (certificate, key []byte) {
	t.Helper()
	certificate, key = blackboxtest.Issue(t, &x509.Certificate{NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)})
	block, _ := pem.Decode(certificate)
	g.certificate = block.Bytes
	return certificate, key
}

// An endpoint with all options gets compressed batches, with its certificate and its
// token, signed both as sent and as decompressed. The delivery log names each home's
// batch.
func TestEndpoint_AllOptions(t *testing.T) {
	t.Parallel()
	const homes, size = 150, 20
	g := &gateway{batches: map[string]string{}}
	url, trusted := g.serveTLS(t)
	running := blackboxtest.Start(t, blackbox.Run{
		Binary: binaries.Gridhook, Role: "serve", Data: t.TempDir(), Patience: patience, Env: []string{"SSL_CERT_FILE=" + trusted},
	})
	p := newProcess(t, running)
	acme := furnish(t, p, homes)
	certificate, key := g.identity(t)
	made := decode[struct{ ID, Secret string }](t, string(acme.call("/v1/webhook/endpoints/create", map[string]any{
		"url": url, "eventTypes": []string{"price_signal.updated"}, "batchSize": size, "compression": "gzip",
		"authentication":    map[string]any{"type": "bearer", "token": "open-sesame"},
		"clientCertificate": map[string]any{"certificate": string(certificate), "privateKey": string(key)},
	})))
	var err error
	if g.verify, err = standardwebhooks.NewWebhook(made.Secret); err != nil {
		t.Fatal(err)
	}
	trigger := acme.trigger()
	acme.delivered(trigger, homes)
	log := decode[struct {
		Data []struct{ ID, BatchID string }
	}](t, string(acme.call("/v1/webhook/deliveries/list", map[string]any{"triggerId": trigger, "limit": 1000})))
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.wrong) != 0 || len(g.batches) != homes || len(log.Data) != homes {
		t.Fatalf("of %d homes %d arrived and %d are in the log; refused: %v", homes, len(g.batches), len(log.Data), g.wrong)
	}
	batches := map[string]bool{}
	for _, d := range log.Data {
		if d.BatchID == "" || g.batches[d.ID] != d.BatchID {
			t.Errorf("%s arrived in the batch %q, and the log says %q", d.ID, g.batches[d.ID], d.BatchID)
		}
		batches[d.BatchID] = true
	}
	if want := 4 + 4 + 2; len(batches) != want { // two whole slices, and the rest
		t.Errorf("%d batches arrived, want %d", len(batches), want)
	}
}
