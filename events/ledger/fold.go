package ledger

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// tally is what is kept of a trigger.
type tally struct {
	// Trigger is zero until the trigger itself is folded: a receipt may come
	// first, as the two streams are followed side by side.
	Trigger events.Trigger `json:"trigger"`
	// Sequence is the trigger's, which its own stored form does not have.
	Sequence uint64 `json:"sequence"`
	// Walked counts homes, Slices the slices' receipts.
	Walked int `json:"walked"`
	Slices int `json:"slices"`
	// Total is how many slices the walk has, 0 until its end is known.
	Total    int                    `json:"total"`
	Outcomes map[events.Outcome]int `json:"outcomes"`
	// LastAt is when the latest delivery was made.
	LastAt storage.Time `json:"lastAt"`
}

// walked reports whether every slice has its receipt.
func (t *tally) walked() bool { return t.Total > 0 && t.Slices == t.Total }

// completed reports whether nothing more will be tried.
func (t *tally) completed() bool { return t.walked() && t.Outcomes[events.OutcomeRetrying] == 0 }

// ended reports whether a trigger, known itself, is completed.
func (t *tally) ended() bool { return t.Trigger.ID != "" && t.completed() }

func (l *Ledger) foldTriggers(batch []events.Sequenced[events.Trigger]) error {
	last := batch[len(batch)-1].Sequence
	err := l.file.Update(func(tx *boltfile.Tx) error {
		for _, m := range batch {
			t := m.Value
			err := update(tx, t.OrganizationID, t.ID, func(tally *tally) { tally.Trigger, tally.Sequence = t, m.Sequence })
			if err == nil && t.ScheduleID != "" {
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
	err := l.file.Update(func(tx *boltfile.Tx) error {
		for _, m := range batch {
			if err := foldReceipt(tx, &m.Value); err != nil {
				return err
			}
		}
		return putSequence(tx, receiptsKey, batch[len(batch)-1].Sequence)
	})
	if err == nil {
		l.signal(0)
	}
	return err
}

// foldReceipt counts every home and endpoint once, however often a receipt was
// stored and in whatever order. The slice's receipt says which deliveries there
// are; those that it calls RETRYING get their final outcome from the retries.
// After a crash a home can be both DELIVERED by its slice and tried again by a
// retry of the run that crashed: then the slice's word is final.
func foldReceipt(tx *boltfile.Tx, r *events.Receipt) error {
	switch {
	case r.Slice != nil:
		return foldSlice(tx, r)
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
	return update(tx, r.OrganizationID, r.TriggerID, func(t *tally) { t.add(counts, r.Deliveries) })
}

func foldSlice(tx *boltfile.Tx, r *events.Receipt) error {
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
	return update(tx, r.OrganizationID, r.TriggerID, func(t *tally) {
		t.Walked += r.Slice.Homes
		t.Slices++
		if r.Slice.Last {
			t.Total = r.Slice.Number + 1
		}
		t.add(counts, r.Deliveries)
	})
}

// openDelivery is the outcome that a slice's delivery has now: a retry that was
// quick may have come before it. One that is still open is marked as waited for.
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

// update changes a trigger's tally, making one where there is none.
func update(tx *boltfile.Tx, org, triggerID string, change func(*tally)) error {
	place := key(org, triggerID)
	t, err := decodeTally(tx.Get(triggersBucket, place))
	if err != nil {
		return err
	}
	had := t.ended()
	change(&t)
	maps.DeleteFunc(t.Outcomes, func(_ events.Outcome, n int) bool { return n == 0 })
	value, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := tx.Put(triggersBucket, place, value); err != nil {
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
