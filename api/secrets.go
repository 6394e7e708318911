package api

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Prefixes and sizes of signing secrets, as in Standard Webhooks
// (github.com/standard-webhooks/standard-webhooks, spec, "Signature scheme"). A shared
// secret is whsec_ and base64. A key pair is whsk_ and whpk_.
const (
	secretPrefix     = "whsec_"
	privateKeyPrefix = "whsk_"
	publicKeyPrefix  = "whpk_"
	newSecretLen     = 32
	minSecretLen     = 24
	maxSecretLen     = 64
	// maxSecrets is the maximum number of secrets that sign at the same time, even after
	// frequent rotation.
	maxSecrets = 4
)

// checkSecretChoice checks the signature scheme and the secret of a choice.
func checkSecretChoice(in *wire.SecretChoice, p *rest.FieldErrors) {
	known := in.Signature == storage.SignatureHMAC || in.Signature == storage.SignatureEd25519
	p.Check(known, "signature", "must be one of %s, %s", storage.SignatureHMAC, storage.SignatureEd25519)
	if in.Secret != "" && in.Signature == storage.SignatureEd25519 {
		p.Addf("secret", "is for hmac only: the service generates the key pair of ed25519")
		return
	}
	checkSecret(in.Secret, p)
}

// checkSecret checks a caller's own secret. An empty secret is valid.
func checkSecret(secret string, p *rest.FieldErrors) {
	if secret == "" {
		return
	}
	text, ok := strings.CutPrefix(secret, secretPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	ok = ok && err == nil && !strings.ContainsAny(text, "\r\n") && len(raw) >= minSecretLen && len(raw) <= maxSecretLen
	p.Check(ok, "secret", "must be %s and the base64 of %d to %d bytes", secretPrefix, minSecretLen, maxSecretLen)
}

// newSecret sets an endpoint's new secret and returns it. For a key pair it returns an
// empty string, because nobody else needs the private key. The previous secrets also sign
// for storage.SecretOverlap. A repeated request with the same secret changes nothing.
func (s *server) newSecret(e *storage.WebhookEndpoint, choice wire.SecretChoice, now time.Time) (shown string) {
	secret, public := choice.Secret, ""
	same := func(old storage.SealedSecret) bool {
		text, err := s.Vault.Open(e.OrganizationID, e.ID, old.Sealed)
		return err == nil && text == secret
	}
	if len(e.Secrets) > 0 && same(e.Secrets[0]) {
		return secret
	}
	e.Secrets = slices.DeleteFunc(slices.Clone(e.Secrets), same)
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
