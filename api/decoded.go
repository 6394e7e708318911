package api

import (
	"sync"

	"github.com/gridhook/gridhook/storage"
)

// decoded keeps the keys that are in use as they were last decoded: decoding one
// takes longer than all else that is done to let a request in.
type decoded struct {
	mu   sync.RWMutex
	keys map[string]decodedKey
}

type decodedKey struct {
	revision uint64
	key      storage.Key
}

// maxDecoded bounds the keys that are kept.
const maxDecoded = 16384

// of is the key of a record, which is read from the replica each time: a key that is
// changed or revoked has another revision.
func (d *decoded) of(r storage.Record) (storage.Key, error) {
	d.mu.RLock()
	have, ok := d.keys[r.ID]
	d.mu.RUnlock()
	if ok && have.revision == r.Revision {
		return have.key, nil
	}
	key, err := storage.Decode[storage.Key](r)
	if err != nil {
		return key, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil || len(d.keys) >= maxDecoded {
		d.keys = map[string]decodedKey{}
	}
	d.keys[r.ID] = decodedKey{r.Revision, key}
	return key, nil
}
