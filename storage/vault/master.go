package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// keySize is the size of every key, in bytes: AES-256.
const keySize = 32

// MasterKey is the operator's own, which the data key is sealed with. It is kept
// apart from the log of record, so that whoever reads that, or a copy of it, reads
// no secrets.
type MasterKey [keySize]byte

// ErrLocked says that the data key does not open with the master keys at hand.
var ErrLocked = errors.New("the secrets of endpoints are locked")

// ParseMasterKeys reads keys, each the base64 of 32 bytes, with commas or white
// space between them.
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

// id tells master keys apart, and nothing about them.
func (m MasterKey) id() string {
	sum := sha256.Sum256(append([]byte("gridhook master key "), m[:]...))
	const enough = 8
	return hex.EncodeToString(sum[:enough])
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal puts the key in the clear under the first of the master keys.
func (k *DataKey) seal(clear []byte, masters []MasterKey) {
	if len(masters) == 0 {
		k.Sealed, k.MasterKey = clear, ""
		return
	}
	aead, _ := newAEAD(masters[0][:]) // it has the right length
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(clear)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails: see crypto/rand
	k.MasterKey = masters[0].id()
	k.Sealed = aead.Seal(nonce, nonce, clear, k.associated())
}

func (k *DataKey) associated() []byte { return []byte("gridhook " + k.ID + " " + k.MasterKey) }

// open is the key in the clear.
func (k *DataKey) open(masters []MasterKey) ([]byte, error) {
	if k.MasterKey == "" {
		return k.Sealed, nil
	}
	i := slices.IndexFunc(masters, func(m MasterKey) bool { return m.id() == k.MasterKey })
	switch {
	case len(masters) == 0:
		return nil, fmt.Errorf("%w with the master key %s: give it by GRIDHOOK_MASTER_KEY or --master-key-file", ErrLocked, k.MasterKey)
	case i < 0:
		return nil, fmt.Errorf("%w with the master key %s, which is none of those that were given", ErrLocked, k.MasterKey)
	}
	aead, _ := newAEAD(masters[i][:]) // it has the right length
	if len(k.Sealed) < aead.NonceSize() {
		return nil, fmt.Errorf("%w: the data key is malformed", ErrLocked)
	}
	nonce, box := k.Sealed[:aead.NonceSize()], k.Sealed[aead.NonceSize():]
	clear, err := aead.Open(nil, nonce, box, k.associated())
	if err != nil {
		return nil, fmt.Errorf("%w: the data key is not as it was written", ErrLocked)
	}
	return clear, nil
}
