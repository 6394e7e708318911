package ledger

import (
	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

// LastRun returns the last run of a schedule, zero if there was none. Triggers are folded
// in the order of their log, so the last stored run is the newest.
func (l *Ledger) LastRun(org, scheduleID string) (run events.Run, err error) {
	l.await()
	err = l.file.View(func(tx *bbolt.Tx) error {
		run, _, err = runsTable.Get(tx, key(org, scheduleID))
		return err
	})
	return run, err
}
