package ledger

import (
	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Ended lists the triggers that have come to their end of which nobody has been
// told, at most limit.
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

// Told notes that somebody has been told of the ends of triggers.
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

// noteEnd notes that a trigger has come to its end, or is open again as deliveries
// were taken up by hand.
func noteEnd(tx *boltfile.Tx, place []byte, had, has bool) error {
	switch {
	case has && !had:
		return tx.Put(endedBucket, place, []byte{1})
	case had && !has:
		return tx.Delete(endedBucket, place)
	}
	return nil
}
