package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gridhook/gridhook/config"
)

var issued = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// pair writes a certificate that is valid for 90 days from issued, and its key.
func pair(t *testing.T) config.KeyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: issued, NotAfter: issued.AddDate(0, 0, 90)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return config.KeyPair{
		Certificate: written(t, filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		Key:         written(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}

func written(t *testing.T, path string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCertificates(t *testing.T) {
	good, other, shared := pair(t), pair(t), pair(t)
	if err := os.Chmod(shared.Key, 0o644); err != nil { //nolint:gosec // too open on purpose
		t.Fatal(err)
	}
	mixed := config.KeyPair{Certificate: good.Certificate, Key: other.Key}
	day := func(n int) time.Time { return issued.AddDate(0, 0, n) }
	for _, test := range []struct {
		files config.KeyPair
		now   time.Time
		want  Status
		says  string
	}{
		{good, day(1), OK, "is valid until 2026-09-29"},
		{good, day(77), Warning, "expires on 2026-09-29"},
		{good, day(91), Warning, "expired on 2026-09-29"},
		{good, day(-1), Warning, "is not valid before 2026-07-01"},
		{mixed, day(1), Problem, "private key does not match public key"},
		{shared, day(1), Problem, "can be read by other users (mode 0644)"},
		{config.KeyPair{Certificate: good.Key, Key: good.Key}, day(1), Problem, "read the certificate"},
	} {
		for check, c := range map[string]config.Config{
			"tls-cert": {TLS: test.files}, "admin-tls-cert": {AdminTLS: test.files}, "nats-cert": {NATS: config.NATS{KeyPair: test.files}},
		} {
			var r Report
			r.certificates(&c, healthy, test.now)
			r.want(t, check, test.want, test.says)
		}
	}
}

func TestCertificates_Authorities(t *testing.T) {
	good := pair(t)
	for file, want := range map[string]Status{good.Certificate: OK, good.Key: Problem} {
		r := examine(t, config.Worker, nil, "--nats", "nats://127.0.0.1:1", "--destination-ca", file)
		r.want(t, "destination-ca", want, file)
	}
}
