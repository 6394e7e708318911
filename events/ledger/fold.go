package ledger

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
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

// deliveries returns the number of deliveries of known outcome.
func (t *tally) deliveries() (n int) {
	for _, count := range t.Outcomes {
		n += count
	}
	return n
}

// waits reports whether a known trigger is not completed.
func (t *tally) waits() bool { return t.Trigger.ID != "" && !t.completed() }

func (l *Ledger) foldTriggers(batch []events.Sequenced[events.Trigger]) error {
	last := batch[len(batch)-1].Sequence
	err := l.file.Update(func(tx *boltfile.Tx) error {
		for _, m := range batch {
			t := m.Value
			err := update(tx, t.OrganizationID, t.ID, m.Size, func(tally *tally) { tally.Trigger, tally.Sequence = t, m.Sequence })
			if err == nil && t.ScheduleID != "" && t.Change == nil {
				err = putRun(tx, &t)
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
	err := l.file.Update(func(tx *boltfile.Tx) error {
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
func foldReceipt(tx *boltfile.Tx, r *events.Receipt, size int) error {
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
	if err := putKept(tx, r); err != nil {
		return err
	}
	if err := foldHealth(tx, r); err != nil {
		return err
	}
	return update(tx, r.OrganizationID, r.TriggerID, size, func(t *tally) { t.add(counts, r.Deliveries) })
}

func foldSlice(tx *boltfile.Tx, r *events.Receipt, size int) error {
	place := sliceKey(r.TriggerID, r.Slice.Number)
	if tx.Get(slicesBucket, place) != nil {
		return nil
	}
	value, err := encodeSlice(r)
	if err != nil {
		return err
	}
	if err := tx.Put(slicesBucket, place, value); err != nil {
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
func openDelivery(tx *boltfile.Tx, triggerID string, d *events.Delivery) (events.Outcome, error) {
	if d.Outcome.Final() {
		return d.Outcome, nil
	}
	place := key(triggerID, d.HomeID, d.EndpointID)
	have, ok, err := decodeRetried(tx.Get(retriedBucket, place))
	if err != nil || ok && have.Outcome.Final() {
		return have.Outcome, err
	}
	return d.Outcome, tx.Put(waitingBucket, place, []byte{1})
}

func (t *tally) add(counts map[events.Outcome]int, deliveries []events.Delivery) {
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
func update(tx *boltfile.Tx, org, triggerID string, size int, change func(*tally)) error {
	place := key(org, triggerID)
	t, err := decodeTally(tx.Get(triggersBucket, place))
	if err != nil {
		return err
	}
	before, had := t, t.ended()
	before.Outcomes = maps.Clone(t.Outcomes)
	change(&t)
	t.Bytes += int64(size)
	maps.DeleteFunc(t.Outcomes, func(_ events.Outcome, n int) bool { return n == 0 })
	value, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := tx.Put(triggersBucket, place, value); err != nil {
		return err
	}
	if err := note(tx, org, &before, &t); err != nil {
		return err
	}
	if err := noteEnd(tx, place, had, t.ended()); err != nil {
		return err
	}
	walking, known := t.Trigger.ID != "" && !t.walked(), tx.Get(walkingBucket, place) != nil
	switch {
	case walking && !known:
		return tx.Put(walkingBucket, place, []byte{1})
	case !walking && known:
		return tx.Delete(walkingBucket, place)
	}
	return nil
}

func decodeTally(value []byte) (tally, error) {
	t := tally{Outcomes: map[events.Outcome]int{}}
	if value == nil {
		return t, nil
	}
	err := json.Unmarshal(value, &t)
	return t, err
}
