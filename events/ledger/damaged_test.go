package ledger

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// damage replaces every value of a bucket by one that does not decode.
func damage(t *testing.T, l *Ledger, bucket string) {
	t.Helper()
	must(t, l.file.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		var keys [][]byte
		err := b.ForEach(func(k, _ []byte) error {
			keys = append(keys, slices.Clone(k))
			return nil
		})
		if len(keys) == 0 {
			t.Fatalf("%s is empty", bucket)
		}
		for _, k := range keys {
			err = errors.Join(err, b.Put(k, []byte("{")))
		}
		return err
	}))
}

// failedLedger returns a ledger with values in every table: a failed delivery after a retry,
// and an endpoint that never failed.
func failedLedger(t *testing.T) (*Ledger, events.Trigger) {
	t.Helper()
	l := newLedger(t)
	tr := trigger("org", storage.NewID("trg_", noon), 0, 2)
	tr.ScheduleID = "schedule"
	accept(t, l, tr)
	failed, good := delivery("a", events.OutcomeRetrying, 1), delivery("b", events.OutcomeDelivered, 1)
	failed.Milliseconds, good.Milliseconds, good.EndpointID = 1, 1, "good"
	last := delivery("a", events.OutcomeFailed, 2)
	last.Milliseconds = 1
	end := retry(tr, "r1.ep.a.1", last)
	end.RetryInputs = []events.RetryInputs{{EndpointID: "ep", Homes: []events.RetryHome{{HomeID: "a"}}}}
	fold(t, l, slice(tr, 0, true, named(tr, failed, good)...), end)
	return l, tr
}

// A damaged value stops the fold: what cannot be added to it would be lost. The next Open then
// rebuilds the ledger from the log.
func TestFold_DamagedValues(t *testing.T) {
	t.Parallel()
	refused := func(endpoint string) events.Delivery {
		d := delivery("a", events.OutcomeRetrying, 3)
		d.EndpointID, d.Milliseconds = endpoint, 1
		return d
	}
	retried := func(tr events.Trigger) events.Receipt { return retry(tr, "r2", refused("ep")) }
	manual := func(tr events.Trigger) events.Receipt { return retry(tr, "ep.again.1", refused("ep")) }
	walked := func(tr events.Trigger) events.Receipt { return slice(tr, 1, false, refused("ep")) }
	for name, c := range map[string]struct {
		bucket  string
		receipt func(events.Trigger) events.Receipt
	}{
		"trigger":                 {string(triggersTable), retried},
		"usage":                   {string(usageTable), retried},
		"retry":                   {string(retriedTable), retried},
		"retry before its slice":  {string(retriedTable), walked},
		"retry of a manual retry": {string(retriedTable), manual},
		"slice of a manual retry": {slicesBucket, manual},
		"slice of a late delivery": {slicesBucket, func(tr events.Trigger) events.Receipt {
			return retry(tr, "r2", delivery("a", events.OutcomeDelivered, 2))
		}},
		"health":             {string(healthTable), retried},
		"health, by a slice": {string(healthTable), walked},
		"health, by a notice": {string(healthTable), func(tr events.Trigger) events.Receipt {
			r := retried(tr)
			r.EventType = storage.EventTriggerCompleted
			return r
		}},
		"success": {string(successTable), func(tr events.Trigger) events.Receipt { return retry(tr, "r2", refused("good")) }},
	} {
		t.Run(name, func(t *testing.T) {
			l, tr := failedLedger(t)
			damage(t, l, c.bucket)
			before := counts(t, l)
			if err := l.foldReceipts(sequenced([]events.Receipt{c.receipt(tr)})); !errors.Is(err, boltfile.ErrDamaged) {
				t.Errorf("the fold of a receipt returns %v", err)
			}
			err := l.foldTriggers(sequenced([]events.Trigger{tr}), time.Time{}, time.Time{})
			if want := c.bucket == string(triggersTable) || c.bucket == string(usageTable); errors.Is(err, boltfile.ErrDamaged) != want {
				t.Errorf("the fold of a trigger returns %v", err)
			}
			if after := counts(t, l); !maps.Equal(after, before) {
				t.Errorf("the folds change %v to %v", before, after)
			}
		})
	}
}

// A query of a damaged value returns an error, instead of a result that lacks it.
func TestQueries_DamagedValues(t *testing.T) {
	t.Parallel()
	const triggers, retries = string(triggersTable), string(retriedTable)
	message := func(tr events.Trigger) string { return events.MessageID(tr.ID, "a", "ep") }
	for name, c := range map[string]struct {
		buckets []string
		query   func(*Ledger, events.Trigger) error
	}{
		"Progress": {[]string{triggers}, func(l *Ledger, tr events.Trigger) error { _, err := l.Progress("org", tr.ID); return err }},
		"Recent":   {[]string{triggers}, func(l *Ledger, _ events.Trigger) error { _, err := l.Recent("org", 9); return err }},
		"RanOut":   {[]string{triggers}, func(l *Ledger, _ events.Trigger) error { _, err := l.RanOut("org", noon); return err }},
		"History": {[]string{triggers}, func(l *Ledger, _ events.Trigger) error {
			_, err := l.History(t.Context(), "org", noon)
			return err
		}},
		"Unnotified":   {[]string{triggers}, func(l *Ledger, _ events.Trigger) error { _, err := l.Unnotified(9); return err }},
		"LastRun":      {[]string{string(runsTable)}, func(l *Ledger, _ events.Trigger) error { _, err := l.LastRun("org", "schedule"); return err }},
		"Usage":        {[]string{string(usageTable)}, func(l *Ledger, _ events.Trigger) error { _, err := l.Usage("org"); return err }},
		"CheckHistory": {[]string{string(usageTable)}, func(l *Ledger, _ events.Trigger) error { return l.CheckHistory("org") }},
		"Multiples": {[]string{string(usageTable)}, func(l *Ledger, _ events.Trigger) error {
			l.opt.Quota.Bytes = 1
			_, err := l.Multiples()
			return err
		}},
		"Health":                   {[]string{string(healthTable)}, func(l *Ledger, _ events.Trigger) error { _, err := l.Health("org", "ep"); return err }},
		"Health without a failure": {[]string{string(successTable)}, func(l *Ledger, _ events.Trigger) error { _, err := l.Health("org", "good"); return err }},
		"EachHealth": {[]string{string(healthTable)}, func(l *Ledger, _ events.Trigger) error {
			return l.EachHealth(func(storage.Ref, events.Health) {})
		}},
		"Deliveries": {[]string{triggers, slicesBucket, retries}, func(l *Ledger, _ events.Trigger) error {
			_, _, err := l.Deliveries("org", events.DeliveryQuery{Limit: 9})
			return err
		}},
		"Deliveries of a trigger": {[]string{triggers, slicesBucket, retries}, func(l *Ledger, tr events.Trigger) error {
			_, _, err := l.Deliveries("org", events.DeliveryQuery{Limit: 9, TriggerID: tr.ID})
			return err
		}},
		"Delivery": {[]string{triggers, slicesBucket, retries, string(attemptsTable)}, func(l *Ledger, tr events.Trigger) error {
			_, err := l.Delivery("org", message(tr))
			return err
		}},
		"RetryInputs": {[]string{triggers, retries, string(inputsTable)}, func(l *Ledger, tr events.Trigger) error {
			_, _, err := l.RetryInputs("org", tr.ID, []events.Delivery{delivery("a", events.OutcomeFailed, 2)})
			return err
		}},
		"RetryInputs of a slice": {[]string{slicesBucket}, func(l *Ledger, tr events.Trigger) error {
			_, _, err := l.RetryInputs("org", tr.ID, []events.Delivery{delivery("b", events.OutcomeFailed, 2)})
			return err
		}},
		"Prune": {[]string{triggers, string(runsTable), string(healthTable), string(successTable), string(usageTable)}, func(l *Ledger, _ events.Trigger) error {
			return l.Prune(noon.Add(time.Hour))
		}},
	} {
		for _, bucket := range c.buckets {
			t.Run(name+", "+bucket, func(t *testing.T) {
				l, tr := failedLedger(t)
				must(t, c.query(l, tr))
				l, tr = failedLedger(t) // Prune has changed the first one
				damage(t, l, bucket)
				if err := c.query(l, tr); !errors.Is(err, boltfile.ErrDamaged) {
					t.Errorf("the query returns %v", err)
				}
			})
		}
	}
}

// Walks and waiting retries are read from a trigger that has not ended.
func TestBacklog_DamagedValues(t *testing.T) {
	t.Parallel()
	for _, bucket := range []string{string(triggersTable), slicesBucket, string(retriedTable)} {
		l := newLedger(t)
		tr := trigger("org", storage.NewID("trg_", noon), 0, 2)
		accept(t, l, tr)
		fold(t, l, slice(tr, 0, false, delivery("a", events.OutcomeRetrying, 1)), retry(tr, "r1", delivery("a", events.OutcomeRetrying, 2)))
		damage(t, l, bucket)
		_, backlog := l.Backlog()
		_, unfinished := l.Unfinished(events.Walk{}, 9)
		if bad := errors.Is(backlog, boltfile.ErrDamaged); bad == (bucket == slicesBucket) {
			t.Errorf("%s: Backlog returns %v", bucket, backlog)
		}
		if bad := errors.Is(unfinished, boltfile.ErrDamaged); bad == (bucket == string(retriedTable)) {
			t.Errorf("%s: Unfinished returns %v", bucket, unfinished)
		}
	}
}
