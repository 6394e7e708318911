package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// keySize is the size of every key, in bytes: AES-256.
const keySize = 32

// MasterKey is the operator's key that seals the data key. The operator stores it outside
// the log of record, so that a reader or a copy of the log reveals no secrets.
type MasterKey [keySize]byte

// ErrLocked says that none of the given master keys opens the data key.
var ErrLocked = errors.New("the secrets of endpoints are locked")

// ParseMasterKeys parses keys that are separated by commas or white space. Each key is
// the base64 of 32 bytes.
func ParseMasterKeys(text string) ([]MasterKey, error) {
	var keys []MasterKey
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r <= ' ' }) {
		b, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(b) != keySize {
			return nil, fmt.Errorf("a master key must be the base64 of %d bytes", keySize)
		}
		keys = append(keys, MasterKey(b))
	}
	return keys, nil
}

// ID returns a text that identifies a master key and reveals nothing about it.
func (m MasterKey) ID() string {
	return storage.Hash("gridhook master key "+string(m[:]), 8)
}

// newAEAD returns a cipher whose Seal puts a random nonce before the text.
func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal seals the data key with the first master key. Without master keys the data key
// stays in the clear.
func (k *DataKey) seal(clear []byte, masters []MasterKey) {
	if len(masters) == 0 {
		k.Sealed, k.MasterKey = clear, ""
		return
	}
	aead, _ := newAEAD(masters[0][:]) // the key has a valid length
	k.MasterKey = masters[0].ID()
	k.Sealed = aead.Seal(nil, nil, clear, k.associated()) //nolint:gosec // the cipher makes the nonce
}

func (k *DataKey) associated() []byte { return []byte("gridhook " + k.ID + " " + k.MasterKey) }

// open returns the data key in the clear.
func (k *DataKey) open(masters []MasterKey) ([]byte, error) {
	if k.MasterKey == "" {
		return k.Sealed, nil
	}
	i := slices.IndexFunc(masters, func(m MasterKey) bool { return m.ID() == k.MasterKey })
	if i < 0 {
		return nil, fmt.Errorf("%w with the master key %s, which is not among the given keys: give it by GRIDHOOK_MASTER_KEY or --master-key-file", ErrLocked, k.MasterKey)
	}
	aead, _ := newAEAD(masters[i][:]) // the key has a valid length
	clear, err := aead.Open(nil, nil, k.Sealed, k.associated())
	if err != nil {
		return nil, fmt.Errorf("%w: the data key was changed after it was written", ErrLocked)
	}
	return clear, nil
}
