package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Prefixes of signing secrets. The base64 of their bytes follows.
const (
	// SecretPrefix begins an HMAC-SHA256 secret.
	SecretPrefix = "whsec_"
	// PrivateKeyPrefix begins an Ed25519 private key: seed and public key.
	PrivateKeyPrefix = "whsk_"
)

// Signer signs with one secret by the Standard Webhooks specification
// (github.com/standard-webhooks/standard-webhooks, spec, "Signature scheme").
type Signer struct {
	expires time.Time          // zero for never
	private ed25519.PrivateKey // nil for HMAC
	pool    sync.Pool          // of hash.Hash, because a new HMAC hashes the key again
}

// NewSigner returns the signer of a secret. It signs until expires, or forever if expires
// is zero.
func NewSigner(secret string, expires time.Time) (*Signer, error) {
	s := &Signer{expires: expires}
	if text, ok := strings.CutPrefix(secret, PrivateKeyPrefix); ok {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != ed25519.PrivateKeySize {
			return nil, fmt.Errorf("a private key is not %s and the base64 of %d bytes", PrivateKeyPrefix, ed25519.PrivateKeySize)
		}
		s.private = key
		return s, nil
	}
	text, ok := strings.CutPrefix(secret, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !ok {
		return nil, fmt.Errorf("a signing secret is not %s and base64", SecretPrefix)
	}
	s.pool.New = func() any { return hmac.New(sha256.New, key) }
	return s, nil
}

// appendSignature appends v1,<base64 of the HMAC-SHA256 of id.timestamp.body>, or
// v1a,<base64 of its Ed25519 signature>.
func (s *Signer) appendSignature(dst []byte, p *Payload, timestamp string, body []byte) []byte {
	content := append(append(p.signing[:0], p.ID...), '.')
	content = append(append(content, timestamp...), '.')
	if s.private != nil {
		content = append(content, body...)
		dst = append(dst, "v1a,"...)
		return base64.StdEncoding.AppendEncode(dst, ed25519.Sign(s.private, content))
	}
	h := s.pool.Get().(hash.Hash)
	defer s.pool.Put(h)
	h.Reset()
	h.Write(content)
	// gofail: var bugUnsignedBody struct{}
	// body = nil
	h.Write(body)
	dst = append(dst, "v1,"...)
	return base64.StdEncoding.AppendEncode(dst, h.Sum(content[:0]))
}

// Sign returns the values of webhook-timestamp and webhook-signature. The signature has
// one entry for each secret that has not expired, newest first. A compressed body has two
// entries for each secret. Some receivers verify the compressed bytes. Others verify the
// text, because their framework decompresses the body.
func Sign(signers []*Signer, p *Payload, now time.Time) (timestamp, value string) {
	timestamp = strconv.FormatInt(now.Unix(), 10)
	var buf [256]byte
	dst := buf[:0]
	for _, s := range signers {
		if !s.expires.IsZero() && now.After(s.expires) {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		dst = s.appendSignature(dst, p, timestamp, p.Sent())
		if p.packed != nil {
			dst = s.appendSignature(append(dst, ' '), p, timestamp, p.text)
		}
	}
	return timestamp, string(dst)
}
