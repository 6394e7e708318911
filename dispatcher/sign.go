package dispatcher

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

// The prefixes of signing secrets; base64 of their bytes follows.
const (
	// SecretPrefix begins a secret of HMAC-SHA256.
	SecretPrefix = "whsec_"
	// PrivateKeyPrefix begins a private key of Ed25519, seed and public key.
	PrivateKeyPrefix = "whsk_"
)

// signer signs with one secret as Standard Webhooks says
// (github.com/standard-webhooks/standard-webhooks, spec, "Signature scheme").
type signer struct {
	expires time.Time          // zero for never
	private ed25519.PrivateKey // nil for HMAC
	pool    sync.Pool          // of hash.Hash: making one hashes the key anew
}

func newSigner(secret string, expires time.Time) (*signer, error) {
	s := &signer{expires: expires}
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
func (s *signer) appendSignature(dst []byte, id, timestamp string, body []byte) []byte {
	var buf [256]byte
	content := append(buf[:0], id...)
	content = append(content, '.')
	content = append(content, timestamp...)
	content = append(content, '.')
	if s.private != nil {
		content = append(content, body...)
		dst = append(dst, "v1a,"...)
		return base64.StdEncoding.AppendEncode(dst, ed25519.Sign(s.private, content))
	}
	h := s.pool.Get().(hash.Hash)
	defer s.pool.Put(h)
	h.Reset()
	h.Write(content)
	h.Write(body)
	dst = append(dst, "v1,"...)
	return base64.StdEncoding.AppendEncode(dst, h.Sum(buf[:0]))
}

// signature is the value of webhook-signature: one signature for each secret
// that is still good, the newest first. A body that is sent compressed has two of
// each: some receivers verify the bytes that were sent, and some, whose framework
// inflates what it hands on, the text in them.
func signature(signers []*signer, id string, now time.Time, body payload) (timestamp, value string) {
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
		dst = s.appendSignature(dst, id, timestamp, body.sent())
		if body.packed != nil {
			dst = s.appendSignature(append(dst, ' '), id, timestamp, body.text)
		}
	}
	return timestamp, string(dst)
}
