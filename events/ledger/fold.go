package ledger

import (
	"maps"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// tally is the stored summary of a trigger.
type tally struct {
	// Trigger is zero until the ledger folds the trigger itself. A receipt may come
	// first, because the ledger follows both streams at the same time.
	Trigger events.Trigger `json:"trigger"`
	// Sequence is the trigger's sequence, which its stored form lacks.
	Sequence uint64 `json:"sequence"`
	// Walked counts homes. Slices counts receipts of slices.
	Walked int `json:"walked"`
	Slices int `json:"slices"`
	// Total is the number of slices of the walk, 0 until the end is known.
	Total    int                    `json:"total"`
	Outcomes map[events.Outcome]int `json:"outcomes"`
	// Bytes is the size of the trigger and its receipts.
	Bytes int64 `json:"bytes"`
	// LastAt is the time of the latest delivery.
	LastAt storage.Time `json:"lastAt"`
}

// walked reports whether every slice has a receipt.
func (t *tally) walked() bool { return t.Total > 0 && t.Slices == t.Total }

// completed reports whether no attempts remain.
func (t *tally) completed() bool { return t.walked() && t.Outcomes[events.OutcomeRetrying] == 0 }

// ended reports whether a known trigger is completed.
func (t *tally) ended() bool { return t.Trigger.ID != "" && t.completed() }

// trigger returns the trigger with its sequence.
func (t *tally) trigger() events.Trigger {
	trigger := t.Trigger
	trigger.Sequence = t.Sequence
	return trigger
}

// foldTriggers skips triggers beyond the retention. The log keeps triggers for longer
// than their receipts, and a trigger without receipts would count as unfinished.
func (l *Ledger) foldTriggers(batch []events.Sequenced[events.Trigger]) error {
	last, oldest := batch[len(batch)-1].Sequence, l.opt.Now().Add(-l.opt.Keep)
	err := l.file.Update(func(tx *bbolt.Tx) error {
		for _, m := range batch {
			t := m.Value
			if t.CreatedAt.Before(oldest) {
				continue
			}
			err := update(tx, t.OrganizationID, t.ID, m.Size, func(tally *tally) { tally.Trigger, tally.Sequence = t, m.Sequence })
			if err == nil && t.ScheduleID != "" && t.Change == nil {
				err = runsTable.Put(tx, key(t.OrganizationID, t.ScheduleID), events.Run{TriggerID: t.ID, At: t.CreatedAt})
			}
			if err != nil {
				return err
			}
		}
		return putSequence(tx, triggersKey, last)
	})
	if err == nil {
		l.signal(last)
	}
	return err
}

func (l *Ledger) foldReceipts(batch []events.Sequenced[events.Receipt]) error {
	// gofail: var foldBefore struct{}
	err := l.file.Update(func(tx *bbolt.Tx) error {
		for _, m := range batch {
			if err := foldReceipt(tx, &m.Value, m.Size); err != nil {
				return err
			}
		}
		return putSequence(tx, receiptsKey, batch[len(batch)-1].Sequence)
	})
	// gofail: var foldAfter struct{}
	if err == nil {
		l.signal(0)
	}
	return err
}

// foldReceipt counts every home and endpoint once, even if a receipt is repeated or out
// of order. The slice's receipt lists the deliveries. Retries decide the final outcome of
// deliveries that the slice's receipt calls RETRYING. After a crash, a home can be both
// DELIVERED by its slice and RETRYING by a retry of the crashed run. The slice's outcome
// is then final.
func foldReceipt(tx *bbolt.Tx, r *events.Receipt, size int) error {
	switch {
	case r.Slice != nil:
		return foldSlice(tx, r, size)
	case r.Notice:
		return foldHealth(tx, r)
	}
	counts := map[events.Outcome]int{}
	for i := range r.Deliveries {
		if err := foldRetried(tx, r, &r.Deliveries[i], counts); err != nil {
			return err
		}
	}
	if len(r.RetryInputs) > 0 { // the inputs of a slice's deliveries are in the slice
		if err := inputsTable.Put(tx, key(r.TriggerID, r.Key), r.RetryInputs); err != nil {
			return err
		}
	}
	if err := foldHealth(tx, r); err != nil {
		return err
	}
	return update(tx, r.OrganizationID, r.TriggerID, size, func(t *tally) { t.add(counts, r.Deliveries) })
}

func foldSlice(tx *bbolt.Tx, r *events.Receipt, size int) error {
	place := sliceKey(r.TriggerID, r.Slice.Number)
	stored := tx.Bucket([]byte(slicesBucket))
	if stored.Get(place) != nil {
		return nil
	}
	value, err := encodeSlice(r)
	if err != nil {
		return err
	}
	if err := stored.Put(place, value); err != nil {
		return err
	}
	counts := map[events.Outcome]int{}
	for i := range r.Deliveries {
		outcome, err := openDelivery(tx, r.TriggerID, &r.Deliveries[i])
		if err != nil {
			return err
		}
		counts[outcome]++
	}
	if err := foldHealth(tx, r); err != nil {
		return err
	}
	return update(tx, r.OrganizationID, r.TriggerID, size, func(t *tally) {
		t.Walked += r.Slice.Homes
		t.Slices++
		if r.Slice.Last {
			t.Total = r.Slice.Number + 1
		}
		t.add(counts, r.Deliveries)
	})
}

// openDelivery returns the current outcome of a slice's delivery. A quick retry may have
// set it before the slice's receipt arrived. openDelivery marks an open delivery as
// waiting.
func openDelivery(tx *bbolt.Tx, triggerID string, d *events.Delivery) (events.Outcome, error) {
	if d.Outcome.Final() {
		return d.Outcome, nil
	}
	place := key(triggerID, d.HomeID, d.EndpointID)
	have, ok, err := retriedTable.Get(tx, place)
	if err != nil || ok && have.Outcome.Final() {
		return have.Outcome, err
	}
	return d.Outcome, waitingSet.Put(tx, place, true)
}

func (t *tally) add(counts map[events.Outcome]int, deliveries []events.Delivery) {
	if t.Outcomes == nil {
		t.Outcomes = map[events.Outcome]int{}
	}
	for outcome, n := range counts {
		t.Outcomes[outcome] += n
	}
	var latest time.Time
	for i := range deliveries {
		if at := deliveries[i].At.Time; at.After(latest) {
			latest = at
		}
	}
	if latest.After(t.LastAt.Time) {
		t.LastAt = storage.Time{Time: latest}
	}
}

// update changes a trigger's tally for a message of the given size. It creates a missing
// tally.
func update(tx *bbolt.Tx, org, triggerID string, size int, change func(*tally)) error {
	place := key(org, triggerID)
	t, _, err := triggersTable.Get(tx, place)
	if err != nil {
		return err
	}
	used, ended := t.usage(), t.ended()
	change(&t)
	t.Bytes += int64(size)
	maps.DeleteFunc(t.Outcomes, func(_ events.Outcome, n int) bool { return n == 0 })
	if err := triggersTable.Put(tx, place, t); err != nil {
		return err
	}
	if err := changeUsage(tx, org, used, t.usage()); err != nil {
		return err
	}
	if ended != t.ended() { // a manual retry may reopen a completed trigger
		if err := unnotifiedSet.Put(tx, place, t.ended()); err != nil {
			return err
		}
	}
	return walkingSet.Put(tx, place, t.Trigger.ID != "" && !t.walked())
}
