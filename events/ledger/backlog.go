package ledger

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
)

// Backlog is the remaining work of accepted triggers.
type Backlog struct {
	// Homes counts the homes that no walk has reached yet.
	Homes int
	// OldestWalk is the acceptance time of the oldest trigger with such homes. It is zero
	// if there is none.
	OldestWalk time.Time
	// OldestRetry is the acceptance time of the oldest trigger with a waiting retry. It
	// is zero if there is none.
	OldestRetry time.Time
}

// Backlog adds up the remaining work of triggers.
func (l *Ledger) Backlog() (b Backlog, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		for k := range walkingSet.Keys(tx) {
			t, _, err := triggersTable.Get(tx, k)
			if err != nil {
				return err
			}
			// A walk skips homes that were deleted after the trigger. So the count may be
			// too high, and never too low.
			b.Homes += max(0, t.Trigger.Homes-t.Walked)
			if at := t.Trigger.CreatedAt.Time; b.OldestWalk.IsZero() || at.Before(b.OldestWalk) {
				b.OldestWalk = at
			}
		}
		for k := range waitingSet.Keys(tx) { // the first key has the oldest trigger
			id, _, _ := bytes.Cut(k, []byte{0})
			b.OldestRetry, _ = storage.IDTime(string(id))
			break
		}
		return nil
	})
	return b, err
}
