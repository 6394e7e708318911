package ledger

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// pruneEvery is the interval between two searches for old triggers.
const pruneEvery = 10 * time.Minute

func (l *Ledger) pruneRegularly(ctx context.Context) error {
	return periodic.Run(ctx, pruneEvery, l.opt.Log, "delete expired triggers", func(context.Context) error {
		return l.Prune(l.opt.Now().Add(-l.opt.Keep))
	})
}

// Prune deletes the triggers accepted before a time with their deliveries. It also
// deletes runs and health of before that time.
func (l *Ledger) Prune(before time.Time) error {
	var old []string
	err := l.file.View(func(tx *bbolt.Tx) error {
		return triggersTable.Each(tx, nil, func(k []byte, t tally) error {
			if at := t.acceptedAt(); !at.IsZero() && at.Before(before) {
				old = append(old, string(k))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	err = l.file.Update(func(tx *bbolt.Tx) error {
		return errors.Join(
			deleteIf(tx, runsTable, func(r events.Run) bool { return r.At.Before(before) }),
			deleteIf(tx, healthTable, func(h events.Health) bool {
				return h.LastSuccessAt.Before(before) && h.LastFailureAt.Before(before)
			}))
	})
	for _, place := range old {
		if err == nil {
			err = l.file.Update(func(tx *bbolt.Tx) error { return dropTrigger(tx, []byte(place)) })
		}
	}
	return err
}

// dropTrigger deletes a trigger and its deliveries.
func dropTrigger(tx *bbolt.Tx, place []byte) error {
	org, id, _ := strings.Cut(string(place), "\x00")
	t, _, err := triggersTable.Get(tx, place)
	if err != nil {
		return err
	}
	if err := changeUsage(tx, org, t.usage(), events.Usage{}); err != nil {
		return err
	}
	for _, bucket := range []string{slicesBucket, string(retriedTable), string(attemptsTable), string(inputsTable), string(waitingSet)} {
		if err := boltfile.DeletePrefix(tx, bucket, key(id, "")); err != nil {
			return err
		}
	}
	return errors.Join(walkingSet.Put(tx, place, false), unnotifiedSet.Put(tx, place, false), triggersTable.Delete(tx, place))
}

// acceptedAt returns the trigger's acceptance time. If only a late receipt is known, it
// returns the receipt's time.
func (t *tally) acceptedAt() time.Time {
	if t.Trigger.ID == "" {
		return t.LastAt.Time
	}
	return t.Trigger.CreatedAt.Time
}

// deleteIf deletes the old values of a table.
func deleteIf[T any](tx *bbolt.Tx, table boltfile.Table[T], old func(T) bool) error {
	var keys [][]byte
	err := table.Each(tx, nil, func(k []byte, v T) error {
		if old(v) {
			keys = append(keys, bytes.Clone(k))
		}
		return nil
	})
	for _, k := range keys {
		err = errors.Join(err, table.Delete(tx, k))
	}
	return err
}
