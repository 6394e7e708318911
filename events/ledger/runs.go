package ledger

import (
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// putRun keeps the last run of a schedule. Triggers are folded in the order of
// their log.
func putRun(tx *boltfile.Tx, t *events.Trigger) error {
	value, err := json.Marshal(events.Run{TriggerID: t.ID, At: t.CreatedAt})
	if err != nil {
		return err
	}
	return tx.Put(runsBucket, key(t.OrganizationID, t.ScheduleID), value)
}

// LastRun is the last run of a schedule.
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

// runAt is when a run that is kept was made.
func runAt(value []byte) (time.Time, error) {
	var run events.Run
	err := json.Unmarshal(value, &run)
	return run.At.Time, err
}
