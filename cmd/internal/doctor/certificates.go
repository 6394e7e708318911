package doctor

import (
	"crypto/x509"
	"os"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
)

// expiresSoon is the remaining validity of a certificate that causes a warning. Renewals by
// ACME and cert-manager happen earlier.
const expiresSoon = 14 * 24 * time.Hour

// ofOthers are the permissions that reveal a key. Kubernetes and systemd provide files that
// the process's group can read.
const ofOthers = 0o037

// certificates checks each certificate with its key, and the authorities for destinations.
func (r *Report) certificates(c *config.Config, m machine, now time.Time) {
	r.certificate("tls-cert", c.TLS, m, now)
	r.certificate("admin-tls-cert", c.AdminTLS, m, now)
	r.certificate("nats-cert", c.NATS.KeyPair, m, now)
	r.authorities(c.DestinationCA)
}

func (r *Report) certificate(check string, p config.KeyPair, m machine, now time.Time) {
	if p == (config.KeyPair{}) {
		return
	}
	if info, err := os.Stat(p.Key); err == nil && m.mode(info)&ofOthers != 0 {
		r.problem(check, "chmod 0600 "+p.Key, "%s can be read by other users (mode %#o)", p.Key, m.mode(info))
	}
	loaded, err := app.LoadCertificate(p)
	if err != nil {
		r.problem(check, "name a certificate and its own key, both in PEM", "%v", err)
		return
	}
	switch leaf, date := loaded.Leaf, time.RFC3339; {
	case now.After(leaf.NotAfter):
		r.warn(check, "renew the certificate", "%s expired on %s", p.Certificate, leaf.NotAfter.Format(date))
	case now.Before(leaf.NotBefore):
		r.warn(check, "check the clock, or wait", "%s is not valid before %s", p.Certificate, leaf.NotBefore.Format(date))
	case leaf.NotAfter.Sub(now) < expiresSoon:
		r.warn(check, "renew the certificate", "%s expires on %s", p.Certificate, leaf.NotAfter.Format(date))
	default:
		r.ok(check, "%s is valid until %s", p.Certificate, leaf.NotAfter.Format(date))
	}
}

// authorities checks that the file of destination-ca has a certificate.
func (r *Report) authorities(file string) {
	const check = "destination-ca"
	if file == "" {
		return
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	switch {
	case err != nil:
		r.problem(check, "make the file readable", "%v", err)
	case !x509.NewCertPool().AppendCertsFromPEM(text):
		r.problem(check, "name a file of certificates in PEM", "%s has no certificate in PEM", file)
	default:
		r.ok(check, "%s has certificates", file)
	}
}
