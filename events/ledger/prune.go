package ledger

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// pruneEvery is the interval between two searches for old triggers.
const pruneEvery = 10 * time.Minute

func (l *Ledger) pruneRegularly(ctx context.Context) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := l.Prune(l.opt.Now().Add(-l.opt.Keep)); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// Prune deletes the triggers accepted before a time, and their deliveries.
func (l *Ledger) Prune(before time.Time) error {
	type old struct {
		place []byte
		id    string
	}
	var forget []old
	err := l.file.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(triggersBucket)).ForEach(func(k, v []byte) error {
			t, err := decodeTally(v)
			if err != nil {
				return err
			}
			if at := t.acceptedAt(); !at.IsZero() && at.Before(before) {
				_, id, _ := bytes.Cut(k, []byte{0})
				forget = append(forget, old{place: bytes.Clone(k), id: string(id)})
			}
			return nil
		})
	})
	if err == nil {
		err = errors.Join(l.pruneOld(runsBucket, runAt, before), l.pruneOld(healthBucket, triedAt, before))
	}
	for _, o := range forget {
		if err == nil {
			err = l.file.Update(func(tx *boltfile.Tx) error { return drop(tx, o.place, o.id) })
		}
	}
	return err
}

// drop deletes a trigger and its deliveries.
func drop(tx *boltfile.Tx, place []byte, id string) error {
	org, _, _ := bytes.Cut(place, []byte{0})
	t, err := decodeTally(tx.Get(triggersBucket, place))
	if err != nil {
		return err
	}
	if err := note(tx, string(org), &t, &tally{}); err != nil {
		return err
	}
	for _, bucket := range []string{slicesBucket, retriedBucket, attemptsBucket, keptBucket, waitingBucket} {
		if err := tx.DeletePrefix(bucket, key(id, "")); err != nil {
			return err
		}
	}
	for _, bucket := range []string{walkingBucket, endedBucket, triggersBucket} {
		if err := tx.Delete(bucket, place); err != nil {
			return err
		}
	}
	return nil
}

// acceptedAt returns the trigger's acceptance time. If only a late receipt is known, it
// returns the receipt's time.
func (t *tally) acceptedAt() time.Time {
	if t.Trigger.ID == "" {
		return t.LastAt.Time
	}
	return t.Trigger.CreatedAt.Time
}

// pruneOld deletes a bucket's values with a time before the given time.
func (l *Ledger) pruneOld(bucket string, at func(value []byte) (time.Time, error), before time.Time) error {
	var old [][]byte
	err := l.file.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error {
			when, err := at(v)
			if err == nil && when.Before(before) {
				old = append(old, bytes.Clone(k))
			}
			return err
		})
	})
	if err != nil || len(old) == 0 {
		return err
	}
	return l.file.Update(func(tx *boltfile.Tx) error {
		for _, k := range old {
			if err := tx.Delete(bucket, k); err != nil {
				return err
			}
		}
		return nil
	})
}
