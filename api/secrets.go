package api

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// A signing secret is whsec_ and base64, and a key pair whsk_ and whpk_, as
// Standard Webhooks has it (github.com/standard-webhooks/standard-webhooks, spec,
// "Signature scheme").
const (
	secretPrefix     = "whsec_"
	privateKeyPrefix = "whsk_"
	publicKeyPrefix  = "whpk_"
	newSecretLen     = 32
	minSecretLen     = 24
	maxSecretLen     = 64
	// maxSecrets bounds how many secrets sign at once, however often they are
	// rotated.
	maxSecrets = 4
)

// SecretChoice is how an endpoint's deliveries are signed from now on.
type SecretChoice struct {
	// Secret is by default made for you. One of your own is whsec_ and the
	// base64 of 24 to 64 random bytes; it is for hmac alone.
	Secret string `json:"secret" null:"no"`
	// Signature is hmac, verified with the secret, or ed25519, verified with a
	// public key.
	Signature storage.Signature `json:"signature" null:"no"`
}

func (in *SecretChoice) setDefaults() { in.Signature = storage.SignatureHMAC }

// check judges a choice.
func (in *SecretChoice) check(p *problems) {
	known := in.Signature == storage.SignatureHMAC || in.Signature == storage.SignatureEd25519
	p.Check(known, "signature", "must be one of %s, %s", storage.SignatureHMAC, storage.SignatureEd25519)
	if in.Secret != "" && in.Signature == storage.SignatureEd25519 {
		p.Addf("secret", "is for hmac alone: the key pair of ed25519 is made for you")
		return
	}
	checkSecret(p, in.Secret)
}

// checkSecret judges a caller's own secret; none is fine.
func checkSecret(p *problems, secret string) {
	if secret == "" {
		return
	}
	text, ok := strings.CutPrefix(secret, secretPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	ok = ok && err == nil && !strings.ContainsAny(text, "\r\n") && len(raw) >= minSecretLen && len(raw) <= maxSecretLen
	p.Check(ok, "secret", "must be %s and the base64 of %d to %d bytes", secretPrefix, minSecretLen, maxSecretLen)
}

// newSecret gives an endpoint a secret as chosen, and returns it: nothing for a
// key pair, whose private half nobody needs. Those before go on signing for
// storage.SecretOverlap.
func (s *server) newSecret(e *storage.WebhookEndpoint, choice SecretChoice, now time.Time) (shown string) {
	secret, public := choice.Secret, ""
	switch {
	case choice.Signature == storage.SignatureEd25519:
		pub, private, _ := ed25519.GenerateKey(rand.Reader) // never fails: see crypto/rand
		secret = privateKeyPrefix + base64.StdEncoding.EncodeToString(private)
		public = publicKeyPrefix + base64.StdEncoding.EncodeToString(pub)
	case secret == "":
		var raw [newSecretLen]byte
		_, _ = rand.Read(raw[:]) // never fails: see crypto/rand
		secret = secretPrefix + base64.StdEncoding.EncodeToString(raw[:])
	}
	secrets := []storage.SealedSecret{{
		Sealed: s.Vault.Seal(e.OrganizationID, e.ID, secret), PublicKey: public, CreatedAt: storage.Time{Time: now},
	}}
	for _, old := range e.Secrets {
		if old.ExpiresAt.IsZero() {
			old.ExpiresAt = storage.Time{Time: now.Add(storage.SecretOverlap)}
		}
		if old.ExpiresAt.After(now) {
			secrets = append(secrets, old)
		}
	}
	e.Secrets = slices.Clip(secrets[:min(len(secrets), maxSecrets)])
	if public != "" {
		return ""
	}
	return secret
}
