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
	// OldestRetry is the acceptance time of the oldest trigger with a waiting retry, or the
	// time of a manual retry. It is zero if there is none.
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
		b.OldestRetry, err = oldestRetry(tx)
		return err
	})
	return b, err
}

// maxManual is the number of manual retries among which oldestRetry searches for the oldest.
const maxManual = 1000

// oldestRetry returns the start of the retry that has waited the longest. Keys are in the
// order of their triggers, so all keys after the first automatic retry are newer.
func oldestRetry(tx *bbolt.Tx) (oldest time.Time, err error) {
	n := 0
	for k := range waitingSet.Keys(tx) {
		state, _, err := retriedTable.Get(tx, k)
		if err != nil {
			return oldest, err
		}
		id, _, _ := bytes.Cut(k, []byte{0})
		at, _ := storage.IDTime(string(id))
		if state.Again > 0 {
			at = time.UnixMilli(state.Again)
		}
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
		if n++; state.Again == 0 || n == maxManual {
			break
		}
	}
	return oldest, nil
}
