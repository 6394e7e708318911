package ledger

import (
	"bytes"
	"maps"
	"time"

	"go.etcd.io/bbolt"

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
	// Bytes is the size of the trigger, its notices and its receipts. RetryBytes is the size of
	// all its retries so far, and Retries the number of deliveries in them.
	Bytes      int64 `json:"bytes"`
	RetryBytes int64 `json:"retryBytes,omitempty"`
	Retries    int64 `json:"retries,omitempty"`
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

// foldTriggers skips triggers accepted before oldest, the start of the retention, and those
// stored before since, whose receipts may have expired when the retention was shorter. The log
// keeps triggers for longer than their receipts, and a trigger without receipts would count as
// unfinished: its walk would run again.
func (l *Ledger) foldTriggers(batch []events.Sequenced[events.Trigger], oldest, since time.Time) error {
	last := batch[len(batch)-1].Sequence
	err := l.fold(func(f *folding) error {
		for _, m := range batch {
			t := m.Value
			if t.CreatedAt.Before(oldest) || m.Stored.Before(since) {
				continue
			}
			err := f.update(t.OrganizationID, t.ID, l.triggerBytes(m.Size, &t), func(tally *tally) { tally.Trigger, tally.Sequence = t, m.Sequence })
			if err == nil && t.ScheduleID != "" && t.Change == nil {
				err = runsTable.Put(f.Tx, key(t.OrganizationID, t.ScheduleID), events.Run{TriggerID: t.ID, At: t.CreatedAt})
			}
			if err != nil {
				return err
			}
		}
		return boltfile.PutNumber(f.Tx, metaBucket, triggersKey, last)
	})
	if err == nil {
		l.signal(last, 0)
	}
	return err
}

// maxFold is the number of deliveries after which a transaction ends. A slice of 64 homes
// with 50 endpoints has 3,200. A trigger is not accepted while a transaction goes on.
const maxFold = 4096

// foldReceipts folds a batch in short transactions.
func (l *Ledger) foldReceipts(batch []events.Sequenced[events.Receipt]) error {
	for len(batch) > 0 {
		n, deliveries := 0, 0
		for n < len(batch) && deliveries < maxFold {
			deliveries += len(batch[n].Value.Deliveries)
			n++
		}
		if err := l.foldSome(batch[:n]); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

func (l *Ledger) foldSome(batch []events.Sequenced[events.Receipt]) error {
	// gofail: var foldBefore struct{}
	err := l.fold(func(f *folding) error {
		for i := range batch {
			if err := f.receipt(&batch[i]); err != nil {
				return err
			}
		}
		return boltfile.PutNumber(f.Tx, metaBucket, receiptsKey, batch[len(batch)-1].Sequence)
	})
	// gofail: var foldAfter struct{}
	if err == nil {
		l.signal(0, batch[len(batch)-1].Sequence)
	}
	return err
}

// receipt counts every home and endpoint once, even if a receipt is repeated or out
// of order. The slice's receipt lists the deliveries. Retries decide the final outcome of
// deliveries that the slice's receipt calls RETRYING. After a crash, a home can be both
// DELIVERED by its slice and RETRYING by a retry of the crashed run. The slice's outcome
// is then final. The deliveries of an event are like retries without a slice, and count
// nowhere. Its tally is that of an unknown trigger.
func (f *folding) receipt(m *events.Sequenced[events.Receipt]) error {
	r := &m.Value
	if r.Slice != nil {
		return f.slice(m)
	}
	counts := map[events.Outcome]int{}
	for i := range r.Deliveries {
		if err := f.retried(r, &r.Deliveries[i], counts); err != nil {
			return err
		}
	}
	if len(r.RetryInputs) > 0 { // the inputs of a slice's deliveries are in the slice
		if err := inputsTable.Put(f.Tx, key(r.TriggerID, r.Key), r.RetryInputs); err != nil {
			return err
		}
	}
	if err := foldHealth(f.Tx, m); err != nil {
		return err
	}
	return f.update(r.OrganizationID, r.TriggerID, m.Size, func(t *tally) { t.add(counts, r) })
}

func (f *folding) slice(m *events.Sequenced[events.Receipt]) error {
	r := &m.Value
	place := sliceKey(r.TriggerID, r.Slice.Number)
	stored := f.Bucket([]byte(slicesBucket))
	stored.FillPercent = boltfile.FillPercent
	if stored.Get(place) != nil {
		return nil
	}
	if err := stored.Put(place, encodeSlice(r, m.Data)); err != nil {
		return err
	}
	counts := map[events.Outcome]int{}
	for i := range r.Deliveries {
		outcome, err := openDelivery(f.Tx, r.TriggerID, &r.Deliveries[i])
		if err != nil {
			return err
		}
		counts[outcome]++
	}
	if err := foldHealth(f.Tx, m); err != nil {
		return err
	}
	return f.update(r.OrganizationID, r.TriggerID, m.Size, func(t *tally) {
		t.Walked += r.Slice.Homes
		t.Slices++
		if r.Slice.Last {
			t.Total = r.Slice.Number + 1
		}
		t.add(counts, r)
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

func (t *tally) add(counts map[events.Outcome]int, r *events.Receipt) {
	t.RetryBytes += int64(r.RetryBytes)
	if t.Outcomes == nil {
		t.Outcomes = map[events.Outcome]int{}
	}
	for outcome, n := range counts {
		t.Outcomes[outcome] += n
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		t.LastAt.Time = storage.Later(t.LastAt.Time, d.At.Time)
		if r.RetryBytes > 0 && d.Outcome == events.OutcomeRetrying {
			t.Retries++
		}
	}
}

// folding is a transaction that changes tallies. It stores each tally at its end, because a
// batch has many receipts of one trigger.
type folding struct {
	*bbolt.Tx
	tallies map[string]*changedTally // by their keys
	decoded *events.Receipt          // by inSlice the last time, or nil
}

// changedTally is a tally with its state before the transaction.
type changedTally struct {
	tally
	used events.Usage
	over bool // the present result of ended
	// toggled reports whether the transaction has changed over.
	toggled bool
}

// fold changes tallies in a transaction.
func (l *Ledger) fold(do func(*folding) error) error {
	return l.file.Update(func(tx *bbolt.Tx) error {
		f := &folding{Tx: tx, tallies: map[string]*changedTally{}}
		err := do(f)
		for place, t := range f.tallies {
			if err == nil {
				err = t.store(tx, []byte(place))
			}
		}
		return err
	})
}

// update changes a trigger's tally for a message of the given size. It creates a missing
// tally.
func (f *folding) update(org, triggerID string, size int, change func(*tally)) error {
	place := key(org, triggerID)
	t := f.tallies[string(place)]
	if t == nil {
		stored, _, err := triggersTable.Get(f.Tx, place)
		if err != nil {
			return err
		}
		t = &changedTally{tally: stored, used: stored.usage(), over: stored.ended()}
		f.tallies[string(place)] = t
	}
	change(&t.tally)
	t.Bytes += int64(size)
	if t.ended() != t.over { // a manual retry may reopen a completed trigger
		t.over, t.toggled = !t.over, true
	}
	return nil
}

// store stores the tally under its key.
func (t *changedTally) store(tx *bbolt.Tx, place []byte) error {
	maps.DeleteFunc(t.Outcomes, func(_ events.Outcome, n int) bool { return n == 0 })
	if err := triggersTable.Put(tx, place, t.tally); err != nil {
		return err
	}
	org, _, _ := bytes.Cut(place, []byte{0})
	if err := changeUsage(tx, string(org), t.used, t.usage()); err != nil {
		return err
	}
	if t.toggled {
		if err := unnotifiedSet.Put(tx, place, t.over); err != nil {
			return err
		}
	}
	return walkingSet.Put(tx, place, t.Trigger.ID != "" && !t.walked())
}
