package doctor

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/config"
)

var issued = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// pair writes a certificate that is valid for 90 days from issued, and its key.
func pair(t *testing.T) config.KeyPair {
	t.Helper()
	certificate, key := blackboxtest.Issue(t, &x509.Certificate{NotBefore: issued, NotAfter: issued.AddDate(0, 0, 90)})
	dir := t.TempDir()
	return config.KeyPair{Certificate: written(t, filepath.Join(dir, "cert.pem"), certificate), Key: written(t, filepath.Join(dir, "key.pem"), key)}
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
