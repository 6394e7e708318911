package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// retried is the latest state of a retried delivery.
type retried struct {
	events.Delivery
	// Again is the Again of the state's receipt.
	Again int64 `json:"again,omitempty"`
	// Kept is the key of the receipt with the inputs of a delivery that was given up.
	Kept string `json:"kept,omitempty"`
}

func decodeRetried(value []byte) (d retried, ok bool, err error) {
	if value == nil {
		return d, false, nil
	}
	err = json.Unmarshal(value, &d)
	return d, true, err
}

func putRetried(tx *boltfile.Tx, place []byte, d *retried) error {
	value, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return tx.Put(retriedBucket, place, value)
}

// foldRetried stores the delivery, unless the stored state is final or has a later
// attempt. It counts the outcome of a waiting delivery. A final outcome counts whatever
// its attempt's number, because after a crash two runs may have counted separately. The
// first receipt after a manual retry reopens the delivery. That receipt may be the record
// of the manual retry or of a quicker attempt.
func foldRetried(tx *boltfile.Tx, r *events.Receipt, d *events.Delivery, counts map[events.Outcome]int) error {
	place := key(r.TriggerID, d.HomeID, d.EndpointID)
	if err := putAttempt(tx, place, d); err != nil {
		return err
	}
	have, ok, err := decodeRetried(tx.Get(retriedBucket, place))
	again := r.Again()
	switch {
	case err != nil:
		return err
	case again > have.Again:
		if opened, err := reopen(tx, r.TriggerID, d, counts); !opened || err != nil {
			return err
		}
	case again < have.Again, ok && (have.Outcome.Final() || have.Attempt > d.Attempt && !d.Outcome.Final()):
		return nil
	}
	now := retried{Delivery: *d, Again: again}
	if len(r.RetryInputs) > 0 && setOf(d.Outcome)&passing != 0 {
		now.Kept = r.Key
	}
	if err := putRetried(tx, place, &now); err != nil {
		return err
	}
	if !d.Outcome.Final() || tx.Get(waitingBucket, place) == nil {
		return nil
	}
	counts[events.OutcomeRetrying]--
	counts[d.Outcome]++
	return tx.Delete(waitingBucket, place)
}

// reopen reopens a delivery for a manual retry, if the delivery was given up.
func reopen(tx *boltfile.Tx, triggerID string, d *events.Delivery, counts map[events.Outcome]int) (opened bool, err error) {
	first, found, err := inSlice(tx.Reading(), triggerID, d.HomeID, d.EndpointID)
	if err != nil || !found {
		return false, err
	}
	was, err := latest(tx.Reading(), triggerID, first)
	if err != nil || was.Outcome != events.OutcomeFailed && was.Outcome != events.OutcomeExpired {
		return false, err
	}
	counts[was.Outcome]--
	counts[events.OutcomeRetrying]++
	return true, tx.Put(waitingBucket, key(triggerID, d.HomeID, d.EndpointID), []byte{1})
}

// inSlice returns a delivery from the receipt of its slice.
func inSlice(tx *bbolt.Tx, triggerID, homeID, endpointID string) (d events.Delivery, found bool, err error) {
	_, value, ok, err := slicesOf(tx, triggerID).ofHome(homeID)
	if err != nil || !ok {
		return d, false, err
	}
	r, err := decodeSlice(value)
	if err != nil {
		return d, false, err
	}
	i := slices.IndexFunc(r.Deliveries, func(d events.Delivery) bool { return d.HomeID == homeID && d.EndpointID == endpointID })
	if i < 0 {
		return d, false, nil
	}
	return r.Deliveries[i], true, nil
}

// latest returns the current state of a slice's delivery. A final outcome in the slice
// stays final, unless the delivery was given up and retried manually. This matters
// because a retry of a crashed walk may exist too.
func latest(tx *bbolt.Tx, triggerID string, d events.Delivery) (retried, error) {
	as := retried{Delivery: d}
	if setOf(d.Outcome)&passing == 0 {
		return as, nil
	}
	have, ok, err := decodeRetried(tx.Bucket([]byte(retriedBucket)).Get(key(triggerID, d.HomeID, d.EndpointID)))
	if ok && (!d.Outcome.Final() || have.Again > 0) {
		as = have
	}
	return as, err
}

// putAttempt adds an attempt to the delivery's history. A postponement without a request
// is not an attempt.
func putAttempt(tx *boltfile.Tx, place []byte, d *events.Delivery) error {
	a := d.Last()
	if !a.Tried() && !d.Outcome.Final() {
		return nil
	}
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	k := append(bytes.Clone(place), 0)
	k = binary.BigEndian.AppendUint64(k, uint64(d.At.UnixMilli())) //nolint:gosec // after 1970
	k = binary.BigEndian.AppendUint16(k, uint16(d.Attempt))        //nolint:gosec // there are far fewer
	return tx.Put(attemptsBucket, k, value)
}

// attempts returns the attempts of a delivery after the attempt in its slice's receipt.
func attempts(tx *bbolt.Tx, place []byte) (list []events.Attempt, err error) {
	prefix := append(bytes.Clone(place), 0)
	c := tx.Bucket([]byte(attemptsBucket)).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		var a events.Attempt
		if err := json.Unmarshal(v, &a); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
