package vault

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// DataKey is the key that seals secrets. The first process to start creates it and stores
// it in the log of record.
type DataKey struct {
	ID string `json:"id"`
	// Sealed is the 32-byte key, sealed with the operator's master key MasterKey. If
	// MasterKey is empty, Sealed is in the clear.
	Sealed    []byte `json:"sealed"`
	MasterKey string `json:"masterKey"`
	storage.Base
}

const dataKeyID = "data-key"

// Ref names the data key.
func (k *DataKey) Ref() storage.Ref { return storage.KindVault.Ref(storage.Shared, k.ID) }

// Check checks the length of the key.
func (k *DataKey) Check(p *storage.Problems) {
	p.Check(len(k.Sealed) == keySize || k.MasterKey != "" && len(k.Sealed) > keySize, "sealed", "must hold a key of %d bytes", keySize)
}

// Vault seals and opens secrets.
type Vault struct{ aead cipher.AEAD }

// Open loads the data key, or creates it if there is none. Any of the master keys can
// open the data key. Open seals it with the first master key. Errors: ErrLocked, and
// errors of the store.
func Open(ctx context.Context, s *storage.Store, masters ...MasterKey) (*Vault, error) {
	ref := (&DataKey{ID: dataKeyID}).Ref()
	key, err := storage.Get[DataKey](s, ref)
	if errors.Is(err, storage.ErrNotFound) {
		key, err = create(ctx, s, masters)
	}
	if err != nil {
		return nil, fmt.Errorf("load the data key: %w", err)
	}
	clear, err := key.open(masters)
	if err != nil {
		return nil, err
	}
	if len(masters) > 0 && key.MasterKey != masters[0].ID() {
		_, err := storage.Update(ctx, s, ref, func(k *DataKey) error {
			k.seal(clear, masters) // the key itself never changes
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("seal the data key with the master key: %w", err)
		}
	}
	aead, err := newAEAD(clear)
	if err != nil {
		return nil, fmt.Errorf("the data key: %w", err)
	}
	return &Vault{aead: aead}, nil
}

func create(ctx context.Context, s *storage.Store, masters []MasterKey) (DataKey, error) {
	fresh := DataKey{ID: dataKeyID, Base: storage.Base{OrganizationID: storage.Shared}}
	clear := make([]byte, keySize)
	_, _ = rand.Read(clear) // never fails: see crypto/rand
	fresh.seal(clear, masters)
	if err := s.Create(ctx, &fresh); err != nil && !errors.Is(err, storage.ErrExists) {
		return fresh, err
	}
	// Another process may have created the key first, and our replica may not have it
	// yet. Wait for everything that the log holds.
	if err := s.CatchUp(ctx); err != nil {
		return fresh, err
	}
	return storage.Get[DataKey](s, fresh.Ref())
}

const version = "v1."

// Seal encrypts a secret for one endpoint of one organization.
func (v *Vault) Seal(org, endpointID, secret string) string {
	sealed := v.aead.Seal(nil, nil, []byte(secret), associated(org, endpointID)) //nolint:gosec // the cipher makes the nonce
	return version + base64.RawStdEncoding.EncodeToString(sealed)
}

// Open decrypts a secret that Seal encrypted for the same organization and endpoint.
func (v *Vault) Open(org, endpointID, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, version)
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if !ok || err != nil {
		return "", errors.New("the sealed secret is malformed")
	}
	secret, err := v.aead.Open(nil, nil, raw, associated(org, endpointID))
	if err != nil {
		return "", errors.New("the sealed secret does not open: it was made with another key or for another endpoint")
	}
	return string(secret), nil
}

func associated(org, endpointID string) []byte { return []byte(version + org + "/" + endpointID) }
