package ledger

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// pruneEvery is how often old triggers are looked for.
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

// Prune forgets the triggers that were accepted before a time, and their
// deliveries.
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
				forget = append(forget, old{bytes.Clone(k), string(id)})
			}
			return nil
		})
	})
	if err == nil {
		err = errors.Join(l.pruneOld(runsBucket, runAt, before), l.pruneOld(healthBucket, triedAt, before))
	}
	for _, o := range forget {
		if err == nil {
			err = l.file.Update(func(tx *boltfile.Tx) error {
				for _, bucket := range []string{slicesBucket, retriedBucket, attemptsBucket, keptBucket, waitingBucket} {
					if err := tx.DeletePrefix(bucket, key(o.id, "")); err != nil {
						return err
					}
				}
				for _, bucket := range []string{walkingBucket, endedBucket} {
					if err := tx.Delete(bucket, o.place); err != nil {
						return err
					}
				}
				return tx.Delete(triggersBucket, o.place)
			})
		}
	}
	return err
}

// acceptedAt is when the trigger was accepted, or, for one that is known by a
// late receipt alone, the time of that.
func (t *tally) acceptedAt() time.Time {
	if t.Trigger.ID == "" {
		return t.LastAt.Time
	}
	return t.Trigger.CreatedAt.Time
}

// pruneOld forgets what is of a time before another in a bucket.
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
