package ledger

import (
	"bytes"
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

// retried is the latest state of a retried delivery.
type retried struct {
	events.Delivery
	// Again is the Again of the state's receipt.
	Again int64 `json:"again,omitempty"`
	// InputsReceipt is the key of the receipt with the inputs of a delivery that was given up.
	InputsReceipt string `json:"kept,omitempty"`
}

// retried stores the delivery, unless the stored state is final or has a later
// attempt. It counts the outcome of a waiting delivery. A final outcome counts whatever
// its attempt's number, because after a crash two runs may have counted separately. The
// first receipt after a manual retry reopens the delivery. That receipt may be the record
// of the manual retry or of a quicker attempt. Two replays may retry a delivery at the same
// time. The later one then decides, but DELIVERED counts from either. DELIVERED replaces an
// outcome of the other run that gave up.
func (f *folding) retried(r *events.Receipt, d *events.Delivery, counts map[events.Outcome]int) error {
	place := key(r.TriggerID, d.HomeID, d.EndpointID)
	if err := putAttempt(f.Tx, place, d); err != nil {
		return err
	}
	have, ok, err := retriedTable.Get(f.Tx, place)
	again := r.Again()
	late := ok && have.Outcome.GivenUp() && d.Outcome == events.OutcomeDelivered
	switch {
	case err != nil:
		return err
	case again > have.Again:
		if opened, err := f.reopen(r.TriggerID, d, counts); !opened || err != nil {
			return err
		}
	case late:
		if err := f.recount(r.TriggerID, &have, d, counts); err != nil {
			return err
		}
	case again < have.Again && d.Outcome != events.OutcomeDelivered, ok && (have.Outcome.Final() || have.Attempt > d.Attempt && !d.Outcome.Final()):
		return nil
	}
	now := retried{Delivery: *d, Again: max(again, have.Again)}
	if len(r.RetryInputs) > 0 && setOf(d.Outcome)&running != 0 {
		now.InputsReceipt = r.Key
	}
	if err := retriedTable.Put(f.Tx, place, now); err != nil {
		return err
	}
	if !d.Outcome.Final() || !waitingSet.Has(f.Tx, place) {
		return nil
	}
	counts[events.OutcomeRetrying]--
	counts[d.Outcome]++
	return waitingSet.Put(f.Tx, place, false)
}

// recount counts a delivery that was given up as delivered. A delivery counts by its retries
// if its slice left it to one, or if a manual retry reopened it.
func (f *folding) recount(triggerID string, have *retried, d *events.Delivery, counts map[events.Outcome]int) error {
	first, found, err := f.inSlice(triggerID, d.HomeID, d.EndpointID)
	if found && (first.Outcome == events.OutcomeRetrying || have.Again > 0) {
		counts[have.Outcome]--
		counts[d.Outcome]++
	}
	return err
}

// reopen reopens a delivery for a manual retry, if the delivery was given up. A delivery that
// an earlier manual retry has reopened stays open.
func (f *folding) reopen(triggerID string, d *events.Delivery, counts map[events.Outcome]int) (opened bool, err error) {
	first, found, err := f.inSlice(triggerID, d.HomeID, d.EndpointID)
	if err != nil || !found {
		return false, err
	}
	was, err := latest(f.Tx, triggerID, first)
	if err != nil || !was.Outcome.GivenUp() {
		return was.Outcome == events.OutcomeRetrying && err == nil, err
	}
	counts[was.Outcome]--
	counts[events.OutcomeRetrying]++
	return true, waitingSet.Put(f.Tx, key(triggerID, d.HomeID, d.EndpointID), true)
}

// inSlice returns a delivery from the receipt of its slice. The deliveries of a receipt are
// mostly of one slice, which has thousands if there are many endpoints.
func (f *folding) inSlice(triggerID, homeID, endpointID string) (d events.Delivery, found bool, err error) {
	number, value, ok, err := slicesOf(f.Tx, triggerID).ofHome(homeID)
	if err != nil || !ok {
		return d, false, err
	}
	if r := f.decoded; r == nil || r.TriggerID != triggerID || r.Slice.Number != number {
		if f.decoded, err = decodeSlice(value); err != nil {
			return d, false, err
		}
	}
	list := f.decoded.Deliveries
	i := slices.IndexFunc(list, func(d events.Delivery) bool { return d.HomeID == homeID && d.EndpointID == endpointID })
	if i < 0 {
		return d, false, nil
	}
	return list[i], true, nil
}

// latest returns the current state of a slice's delivery. A final outcome in the slice
// stays final, unless the delivery was given up and retried manually. This matters
// because a retry of a crashed walk may exist too.
func latest(tx *bbolt.Tx, triggerID string, d events.Delivery) (retried, error) {
	as := retried{Delivery: d}
	if setOf(d.Outcome)&running == 0 {
		return as, nil
	}
	have, ok, err := retriedTable.Get(tx, key(triggerID, d.HomeID, d.EndpointID))
	if ok && (!d.Outcome.Final() || have.Again > 0) {
		as = have
	}
	return as, err
}

// putAttempt adds an attempt to the delivery's history. A postponement without a request
// is not an attempt.
func putAttempt(tx *bbolt.Tx, place []byte, d *events.Delivery) error {
	a := d.Last()
	if !a.Tried() && !d.Outcome.Final() {
		return nil
	}
	k := append(bytes.Clone(place), 0)
	k = binary.BigEndian.AppendUint64(k, uint64(d.At.UnixMilli())) //nolint:gosec // after 1970
	k = binary.BigEndian.AppendUint16(k, uint16(d.Attempt))        //nolint:gosec // there are far fewer
	return attemptsTable.Put(tx, k, a)
}

// attempts returns the attempts of a delivery after the attempt in its slice's receipt.
func attempts(tx *bbolt.Tx, place []byte) (list []events.Attempt, err error) {
	err = attemptsTable.Each(tx, append(bytes.Clone(place), 0), func(_ []byte, a events.Attempt) error {
		list = append(list, a)
		return nil
	})
	return list, err
}
