package ledger

import (
	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

var _ events.Walks = (*Ledger)(nil)

// Unfinished lists the unfinished walks after a walk.
func (l *Ledger) Unfinished(after events.Walk, limit int) (list []events.Walk, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		for k := range walkingSet.KeysAfter(tx, key(after.Trigger.OrganizationID, after.Trigger.ID)) {
			if len(list) == limit {
				break
			}
			t, _, err := triggersTable.Get(tx, k)
			if err != nil {
				return err
			}
			walk, err := frontier(tx, t.trigger())
			if err != nil {
				return err
			}
			list = append(list, walk)
		}
		return nil
	})
	return list, err
}

// frontier finds the first slice without a receipt, and its start.
func frontier(tx *bbolt.Tx, t events.Trigger) (events.Walk, error) {
	walk, received := events.Walk{Trigger: t}, slicesOf(tx, t.ID)
	var last []byte
	for number, value, ok := received.from(0); ok && number == walk.Next; number, value, ok = received.next() {
		walk.Next, last = number+1, value
	}
	if last == nil {
		return walk, nil
	}
	h, _, err := readHead(last)
	walk.After = string(h.through)
	return walk, err
}
