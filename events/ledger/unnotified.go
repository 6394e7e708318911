package ledger

import (
	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

// Unnotified lists the completed triggers without a notification, at most limit.
func (l *Ledger) Unnotified(limit int) (list []events.Progress, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		for k := range unnotifiedSet.Keys(tx) {
			if len(list) == limit {
				break
			}
			t, _, err := triggersTable.Get(tx, k)
			if err != nil {
				return err
			}
			list = append(list, t.progress())
		}
		return nil
	})
	return list, err
}

// MarkNotified records that endpoints were notified of completed triggers.
func (l *Ledger) MarkNotified(triggers []events.Progress) error {
	return l.file.Update(func(tx *bbolt.Tx) error {
		for i := range triggers {
			if err := unnotifiedSet.Put(tx, key(triggers[i].OrganizationID, triggers[i].TriggerID), false); err != nil {
				return err
			}
		}
		return nil
	})
}
