package vault

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// DataKey is the key that secrets are sealed with. It is made once, by whoever
// starts first, and kept in the log of record.
type DataKey struct {
	ID string `json:"id"`
	// Key is 32 bytes.
	Key []byte `json:"key"`
	storage.Base
}

const dataKeyID = "data-key"

// Ref names the data key.
func (k *DataKey) Ref() storage.Ref {
	return storage.Ref{Kind: storage.KindVault, Org: storage.Shared, ID: k.ID}
}

// Validate checks the key's length.
func (k *DataKey) Validate() error {
	var p storage.Problems
	p.Check(len(k.Key) == 32, "key", "must have 32 bytes")
	return p.Err()
}

// Vault seals and opens secrets.
type Vault struct{ aead cipher.AEAD }

// Open loads the data key, or makes it if there is none yet.
func Open(ctx context.Context, s *storage.Store) (*Vault, error) {
	fresh := DataKey{ID: dataKeyID, Key: make([]byte, 32)}
	fresh.OrganizationID = storage.Shared
	key, err := storage.Get[DataKey](s, fresh.Ref())
	if errors.Is(err, storage.ErrNotFound) {
		_, _ = rand.Read(fresh.Key)
		if err := s.Create(ctx, &fresh); err != nil && !errors.Is(err, storage.ErrExists) {
			return nil, fmt.Errorf("make the data key: %w", err)
		}
		// Somebody else's key may have won, and our replica may not have it
		// yet: wait for what the log holds.
		if err := s.CatchUp(ctx); err != nil {
			return nil, err
		}
		key, err = storage.Get[DataKey](s, fresh.Ref())
	}
	if err != nil {
		return nil, fmt.Errorf("load the data key: %w", err)
	}
	block, err := aes.NewCipher(key.Key)
	if err != nil {
		return nil, fmt.Errorf("the data key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Vault{aead: aead}, nil
}

const version = "v1."

// Seal encrypts a secret for one endpoint of one organization.
func (v *Vault) Seal(org, endpointID, secret string) string {
	nonce := make([]byte, v.aead.NonceSize(), v.aead.NonceSize()+len(secret)+v.aead.Overhead())
	_, _ = rand.Read(nonce)
	sealed := v.aead.Seal(nonce, nonce, []byte(secret), associated(org, endpointID))
	return version + base64.RawStdEncoding.EncodeToString(sealed)
}

// Open decrypts what Seal made for the same organization and endpoint.
func (v *Vault) Open(org, endpointID, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, version)
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if !ok || err != nil || len(raw) < v.aead.NonceSize() {
		return "", errors.New("the sealed secret is malformed")
	}
	nonce, box := raw[:v.aead.NonceSize()], raw[v.aead.NonceSize():]
	secret, err := v.aead.Open(nil, nonce, box, associated(org, endpointID))
	if err != nil {
		return "", errors.New("the sealed secret does not open: it was made with another key or for another endpoint")
	}
	return string(secret), nil
}

func associated(org, endpointID string) []byte { return []byte(version + org + "/" + endpointID) }
