package app_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/storage/vault"
)

// issue writes a certificate for the loopback with a serial number, and its key.
func issue(t *testing.T, p config.KeyPair, serial int64) *x509.Certificate {
	t.Helper()
	certificate, key := blackboxtest.Issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	})
	for path, text := range map[string][]byte{p.Certificate: certificate, p.Key: key} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	block, _ := pem.Decode(certificate)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func files(t *testing.T) config.KeyPair {
	dir := t.TempDir()
	return config.KeyPair{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
}

// TestTLS_Listeners checks that each listener speaks TLS with its own certificate, TLS
// 1.2 or later, and only HTTP/1.1, so that the limits on slow clients apply.
func TestTLS_Listeners(t *testing.T) {
	public, admin := files(t), files(t)
	roots := x509.NewCertPool()
	roots.AddCert(issue(t, public, 1))
	roots.AddCert(issue(t, admin, 2))
	a := startWith(t, func(o *app.Options) { o.TLS, o.AdminTLS = public, admin })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	for url, serial := range map[string]int64{a.URL() + "/openapi.json": 1, a.AdminURL() + "/livez": 2} {
		response, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		got := response.TLS.PeerCertificates[0].SerialNumber.Int64()
		if !strings.HasPrefix(url, "https://") || response.StatusCode != http.StatusOK || got != serial || response.ProtoMajor != 1 {
			t.Errorf("%s: %s %s, certificate %d", url, response.Proto, response.Status, got)
		}
		old := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}}}
		// The error must come from the server, not from the client.
		if _, err := old.Get(url); err == nil || !strings.Contains(err.Error(), "remote error: tls: protocol version not supported") {
			t.Errorf("%s responds to a client of TLS 1.1 with %v", url, err)
		}
		if response, err := http.Get(strings.Replace(url, "https:", "http:", 1)); err == nil {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode == http.StatusOK || !strings.Contains(string(body), "the server expects TLS: use a URL that begins with https://") {
				t.Errorf("%s responds without TLS: %s %s", url, response.Status, body)
			}
		}
	}
}

// TestTLS_CertificateExpiry checks that a metric shows when the certificate in use expires: a
// renewed one without a handshake, and the former one while the file cannot be read.
func TestTLS_CertificateExpiry(t *testing.T) {
	p := files(t)
	first := issue(t, p, 1)
	a := startWith(t, func(o *app.Options) { o.TLS = p })
	check := func(c *x509.Certificate) {
		t.Helper()
		if line := fmt.Sprint(`gridhook_certificate_expiry_timestamp_seconds{listener="http"} `, float64(c.NotAfter.Unix())); !shows(t, a, line) {
			t.Errorf("no line is %s", line)
		}
	}
	check(first)
	if err := os.WriteFile(p.Certificate, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(first)
	check(issue(t, p, 1<<40)) // of another size: the file system's clock is coarse
}

// TestTLS_CertificateReloaded checks that a renewed certificate is served without a
// restart, and that a partly written or invalid certificate is not.
func TestTLS_CertificateReloaded(t *testing.T) {
	p := files(t)
	issue(t, p, 1)
	now := time.Now()
	get, err := app.Certificates(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	serial := func(passed time.Duration) int64 {
		t.Helper()
		now = now.Add(passed)
		c, err := get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf.SerialNumber.Int64()
	}
	later := func() { // even if the file system's clock is coarse
		for _, path := range []string{p.Certificate, p.Key} {
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := serial(time.Minute); got != 1 {
		t.Errorf("the first certificate is %d", got)
	}
	issue(t, p, 2)
	later()
	if got := serial(time.Minute); got != 2 {
		t.Errorf("the renewed certificate is %d", got)
	}
	if err := os.WriteFile(p.Certificate, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(time.Minute); got != 2 {
		t.Errorf("after an invalid file the certificate is %d", got)
	}
	issue(t, p, 3)
	later()
	if got := serial(time.Minute); got != 3 {
		t.Errorf("after the correction the certificate is %d", got)
	}
}

// TestTLS_CertificateReadAgain checks that a renewed certificate is served once its files can
// be read, even if neither their time nor their size changes then, as after a correction of
// their permissions. The log has the error once.
func TestTLS_CertificateReadAgain(t *testing.T) {
	p := files(t)
	issue(t, p, 1)
	var log bytes.Buffer
	get, err := app.Certificates(p, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	issue(t, p, 2)
	renewed, err := os.ReadFile(p.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Minute)
	for _, step := range []struct {
		text   []byte
		serial int64
	}{{make([]byte, len(renewed)), 1}, {make([]byte, len(renewed)), 1}, {renewed, 2}} {
		if err := errors.Join(os.WriteFile(p.Certificate, step.text, 0o600), os.Chtimes(p.Certificate, at, at)); err != nil {
			t.Fatal(err)
		}
		if c, err := get(nil); err != nil || c.Leaf.SerialNumber.Int64() != step.serial {
			t.Errorf("the certificate is %v, %v, want %d", c.Leaf.SerialNumber, err, step.serial)
		}
	}
	if n := strings.Count(log.String(), "changed certificate unreadable"); n != 1 {
		t.Errorf("the log has the error %d times:\n%s", n, log.String())
	}
}

func TestTLS_CertificateUnreadable(t *testing.T) {
	p := files(t)
	o := app.Local(t.TempDir(), slog.New(slog.DiscardHandler))
	o.TLS = p
	_, err := app.Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), p.Certificate) || !strings.Contains(err.Error(), "name a certificate and its own key") {
		t.Errorf("the error is %v", err)
	}
}

// TestTLS_NATSAuthoritiesReplaced checks that a process reads the file of nats-ca again when it
// reconnects, and that /readyz names the cause while the file is unusable.
func TestTLS_NATSAuthoritiesReplaced(t *testing.T) {
	t.Parallel()
	p := files(t)
	issue(t, p, 1)
	pair, err := app.LoadCertificate(p)
	if err != nil {
		t.Fatal(err)
	}
	nats, err := server.NewServer(&server.Options{
		ServerName: "n1", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, MaxPayload: 8 << 20,
		JetStream: true, StoreDir: t.TempDir(), TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		t.Fatal(err)
	}
	nats.Start()
	t.Cleanup(func() { nats.Shutdown(); nats.WaitForShutdown() })
	if !nats.ReadyForConnections(time.Minute) {
		t.Fatal("NATS is not ready")
	}
	o := app.Local(t.TempDir(), slog.New(slog.DiscardHandler))
	o.Role, o.NATS = config.Worker, config.NATS{URL: nats.ClientURL(), CA: p.Certificate, Prefix: "gridhook"}
	started(t, o, func(a *app.App) {
		awaitReady(t, a)
		good, err := os.ReadFile(p.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.Certificate, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		connections, err := nats.Connz(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range connections.Conns {
			if err := nats.DisconnectClientByID(c.Cid); err != nil {
				t.Fatal(err)
			}
		}
		want := "NATS is not connected: nats: failed to parse root certificate from"
		for late := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
			_, body := ask(t, a, "GET", "/readyz")
			if strings.Contains(body, want) {
				break
			}
			if time.Now().After(late) {
				t.Fatalf("/readyz responds %s, want %s", body, want)
			}
		}
		if err := os.WriteFile(p.Certificate, good, 0o600); err != nil {
			t.Fatal(err)
		}
		awaitReady(t, a)
	})
}

// TestMasterKey_Logged checks that the log of a start names the key that seals the data key,
// and the keys that a rotation leaves over.
func TestMasterKey_Logged(t *testing.T) {
	t.Parallel()
	newer, older := vault.MasterKey{1}, vault.MasterKey{2}
	var log bytes.Buffer
	o := app.Local(t.TempDir(), slog.New(slog.NewTextHandler(&log, nil)))
	o.MasterKey = base64.StdEncoding.EncodeToString(newer[:]) + "," + base64.StdEncoding.EncodeToString(older[:])
	a, err := app.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	want := `msg="master key read" key=` + newer.ID() + " others=[" + older.ID() + "]"
	if !strings.Contains(log.String(), want) {
		t.Errorf("no line has %s in\n%s", want, log.String())
	}
}
