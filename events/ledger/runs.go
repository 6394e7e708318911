package ledger

import (
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// putRun stores the last run of a schedule. Triggers are folded in the order of their
// log.
func putRun(tx *boltfile.Tx, t *events.Trigger) error {
	value, err := json.Marshal(events.Run{TriggerID: t.ID, At: t.CreatedAt})
	if err != nil {
		return err
	}
	return tx.Put(runsBucket, key(t.OrganizationID, t.ScheduleID), value)
}

// LastRun returns the last run of a schedule.
func (l *Ledger) LastRun(org, scheduleID string) (run events.Run, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		value := tx.Bucket([]byte(runsBucket)).Get(key(org, scheduleID))
		if value == nil {
			return nil
		}
		return json.Unmarshal(value, &run)
	})
	return run, err
}

// runAt returns the time of a stored run.
func runAt(value []byte) (time.Time, error) {
	var run events.Run
	err := json.Unmarshal(value, &run)
	return run.At.Time, err
}
