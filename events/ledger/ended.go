package ledger

import (
	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Ended lists the completed triggers without a notification, at most limit.
func (l *Ledger) Ended(limit int) (list []events.Progress, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(endedBucket)).Cursor()
		for k, _ := c.First(); k != nil && len(list) < limit; k, _ = c.Next() {
			t, err := decodeTally(tx.Bucket([]byte(triggersBucket)).Get(k))
			if err != nil {
				return err
			}
			list = append(list, t.progress())
		}
		return nil
	})
	return list, err
}

// Told records that endpoints were notified of completed triggers.
func (l *Ledger) Told(triggers []events.Progress) error {
	return l.file.Update(func(tx *boltfile.Tx) error {
		for i := range triggers {
			if err := tx.Delete(endedBucket, key(triggers[i].OrganizationID, triggers[i].TriggerID)); err != nil {
				return err
			}
		}
		return nil
	})
}

// noteEnd records that a trigger completed, or that a manual retry reopened it.
func noteEnd(tx *boltfile.Tx, place []byte, had, has bool) error {
	switch {
	case has && !had:
		return tx.Put(endedBucket, place, []byte{1})
	case had && !has:
		return tx.Delete(endedBucket, place)
	}
	return nil
}
