package ledger

import (
	"encoding/json"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Usage returns the usage of an organization's triggers.
func (l *Ledger) Usage(org string) (u events.Usage, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		u, err = decodeUsage(tx.Bucket([]byte(usageBucket)).Get([]byte(org)))
		return err
	})
	return u, err
}

func decodeUsage(value []byte) (u events.Usage, err error) {
	if value != nil {
		err = json.Unmarshal(value, &u)
	}
	return u, err
}

// note adds a trigger's changes to its organization's usage.
func note(tx *boltfile.Tx, org string, before, after *tally) error {
	delta := events.Usage{Bytes: after.Bytes - before.Bytes, Deliveries: after.deliveries() - before.deliveries()}
	if before.waits() {
		delta.Waiting--
	}
	if after.waits() {
		delta.Waiting++
	}
	if delta == (events.Usage{}) {
		return nil
	}
	u, err := decodeUsage(tx.Get(usageBucket, []byte(org)))
	if err != nil {
		return err
	}
	u.Waiting, u.Bytes, u.Deliveries = u.Waiting+delta.Waiting, u.Bytes+delta.Bytes, u.Deliveries+delta.Deliveries
	if u == (events.Usage{}) {
		return tx.Delete(usageBucket, []byte(org))
	}
	value, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return tx.Put(usageBucket, []byte(org), value)
}
