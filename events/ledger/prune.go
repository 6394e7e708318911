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
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// pruneEvery is the interval between two searches for old triggers.
const pruneEvery = 10 * time.Minute

// pruneRegularly deletes expired triggers.
func (l *Ledger) pruneRegularly(ctx context.Context, source Source) error {
	return periodic.Run(ctx, pruneEvery, l.opt.Log, "delete expired triggers", func(ctx context.Context) error {
		streams, err := source.Streams(ctx)
		if err != nil {
			return err
		}
		return l.Prune(l.oldest(streams.Now))
	})
}

// oldest returns the time before which triggers have expired, by the clocks of the process
// and of the server. Without the second one, a clock that is ahead would delete triggers too
// early.
func (l *Ledger) oldest(server time.Time) time.Time {
	return storage.Earlier(l.opt.Now(), server).Add(-l.opt.Keep)
}

// Prune deletes the triggers accepted before a time with their deliveries. It also
// deletes runs and health of before that time. Of deleted organizations it deletes
// everything. The next Open overwrites the deleted bytes, so that a deleted organization
// leaves no trace.
func (l *Ledger) Prune(before time.Time) error {
	var old []string
	erased := l.erasedOrgs()
	err := l.file.View(func(tx *bbolt.Tx) error {
		return triggersTable.Each(tx, nil, func(k []byte, t tally) error {
			gone, err := erased(k)
			if at := t.acceptedAt(k); gone || !at.IsZero() && at.Before(before) {
				old = append(old, string(k))
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	err = l.file.Update(func(tx *bbolt.Tx) error {
		return errors.Join(
			deleteIf(tx, runsTable, erased, func(r events.Run) bool { return r.At.Before(before) }),
			deleteIf(tx, healthTable, erased, func(h events.Health) bool {
				return h.LastSuccessAt.Before(before) && h.LastFailureAt.Before(before)
			}),
			deleteIf(tx, successTable, erased, func(at int64) bool { return time.UnixMilli(at).Before(before) }))
	})
	for _, place := range old {
		if err == nil {
			err = l.file.Update(func(tx *bbolt.Tx) error {
				return errors.Join(dropTrigger(tx, []byte(place)), boltfile.CompactAtOpen(tx))
			})
		}
	}
	return err
}

// erasedOrgs returns a function that reports whether a key belongs to a deleted
// organization. It asks about each organization once.
func (l *Ledger) erasedOrgs() func(key []byte) (bool, error) {
	known := map[string]bool{}
	return func(key []byte) (bool, error) {
		org, _, _ := strings.Cut(string(key), "\x00")
		erased, ok := known[org]
		if ok || l.opt.Erased == nil {
			return erased, nil
		}
		erased, err := l.opt.Erased(org)
		known[org] = erased
		return erased, err
	}
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

// acceptedAt returns the acceptance time of the trigger with a key. If only a late receipt is
// known, it returns the time of the receipt's deliveries. Without a delivery it returns the
// time in the trigger's identifier.
func (t *tally) acceptedAt(key []byte) time.Time {
	switch {
	case t.Trigger.ID != "":
		return t.Trigger.CreatedAt.Time
	case !t.LastAt.IsZero():
		return t.LastAt.Time
	}
	_, id, _ := strings.Cut(string(key), "\x00")
	at, _ := storage.IDTime(id)
	return at
}

// deleteIf deletes the old values of a table, and all values of deleted organizations.
func deleteIf[T any](tx *bbolt.Tx, table boltfile.Table[T], erased func([]byte) (bool, error), old func(T) bool) error {
	var keys [][]byte
	err := table.Each(tx, nil, func(k []byte, v T) error {
		gone, err := erased(k)
		if gone || old(v) {
			keys = append(keys, bytes.Clone(k))
		}
		return err
	})
	for _, k := range keys {
		err = errors.Join(err, table.Delete(tx, k))
	}
	if len(keys) > 0 {
		err = errors.Join(err, boltfile.CompactAtOpen(tx))
	}
	return err
}
