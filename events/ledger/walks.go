package ledger

import (
	"bytes"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

var _ events.Walks = (*Ledger)(nil)

// Unfinished lists the unfinished walks.
func (l *Ledger) Unfinished(limit int) (list []events.Walk, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(walkingBucket)).Cursor()
		for k, _ := c.First(); k != nil && len(list) < limit; k, _ = c.Next() {
			t, err := decodeTally(tx.Bucket([]byte(triggersBucket)).Get(k))
			if err != nil {
				return err
			}
			walk, err := frontier(tx, t.Trigger)
			if err != nil {
				return err
			}
			walk.Trigger.Sequence = t.Sequence
			list = append(list, walk)
		}
		return nil
	})
	return list, err
}

// frontier finds the first slice without a receipt, and its start.
func frontier(tx *bbolt.Tx, t events.Trigger) (events.Walk, error) {
	walk := events.Walk{Trigger: t}
	var last []byte
	c := tx.Bucket([]byte(slicesBucket)).Cursor()
	for k, v := c.Seek(sliceKey(t.ID, 0)); bytes.Equal(k, sliceKey(t.ID, walk.Next)); k, v = c.Next() {
		walk.Next, last = walk.Next+1, v
	}
	if last == nil {
		return walk, nil
	}
	h, _, err := readHead(last)
	walk.After = string(h.through)
	return walk, err
}
