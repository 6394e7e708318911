package api

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Prefixes of key pairs, as in Standard Webhooks. The length of a new secret is in bytes.
const (
	privateKeyPrefix = "whsk_"
	publicKeyPrefix  = "whpk_"
	newSecretLen     = 32
	// maxSecrets is the maximum number of secrets that sign at the same time, even after
	// frequent rotation.
	maxSecrets = 4
)

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
		secret = wire.SecretPrefix + base64.StdEncoding.EncodeToString(raw[:])
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
