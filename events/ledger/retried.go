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

// retried is the latest of a delivery that was tried again.
type retried struct {
	events.Delivery
	// Again is that of the receipt which it is from.
	Again int64 `json:"again,omitempty"`
	// Kept is the key of the receipt that keeps what it was made of, where it was
	// given up.
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

// foldRetried keeps the delivery unless it is final already or is being tried for
// a later time, and counts its outcome when it is the one that was waited for. A
// final outcome counts whatever its attempt's number: after a crash two runs may
// have counted apart. The first that comes of a delivery which was taken up again by
// hand opens it: the receipt that says so, or one of an attempt that was quicker.
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
	if len(r.Kept) > 0 && setOf(d.Outcome)&passing != 0 {
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

// reopen opens a delivery that had been given up, for what comes of its being taken
// up again.
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

// inSlice is a delivery as the receipt of its slice has it.
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

// latest is a delivery of a slice as it is now. What the slice calls final is so,
// unless it was given up and has been taken up again since: a retry of a walk that
// crashed may have come beside it.
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

// putAttempt keeps an attempt in the delivery's history. What was put off without a
// request is none.
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

// attempts are those of a delivery that its slice's receipt does not tell.
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
