package ledger

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
)

// Backlog is what accepted triggers still have to do.
type Backlog struct {
	// Homes have not been walked yet.
	Homes int
	// OldestWalk is when the oldest trigger was accepted that has such homes,
	// zero when there is none.
	OldestWalk time.Time
	// OldestRetry is when the oldest trigger was accepted that has a delivery
	// which is tried again, zero when there is none.
	OldestRetry time.Time
}

// Backlog sums up what triggers still have to do.
func (l *Ledger) Backlog() (b Backlog, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(walkingBucket)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			t, err := decodeTally(tx.Bucket([]byte(triggersBucket)).Get(k))
			if err != nil {
				return err
			}
			// Homes that were deleted meanwhile are not walked, so the count
			// may end above what is left, and never below.
			b.Homes += max(0, t.Trigger.Homes-t.Walked)
			if at := t.Trigger.CreatedAt.Time; b.OldestWalk.IsZero() || at.Before(b.OldestWalk) {
				b.OldestWalk = at
			}
		}
		// The keys begin with triggers, whose identifiers sort by time.
		if k, _ := tx.Bucket([]byte(waitingBucket)).Cursor().First(); k != nil {
			id, _, _ := bytes.Cut(k, []byte{0})
			b.OldestRetry, _ = storage.IDTime(string(id))
		}
		return nil
	})
	return b, err
}
