package ledger

import (
	"encoding/json"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// putKept stores the inputs of deliveries that a retry's receipt gave up. The inputs of a
// slice's deliveries are in the slice.
func putKept(tx *boltfile.Tx, r *events.Receipt) error {
	if len(r.RetryInputs) == 0 {
		return nil
	}
	value, err := json.Marshal(r.RetryInputs)
	if err != nil {
		return err
	}
	return tx.Put(keptBucket, key(r.TriggerID, r.Key), value)
}

// RetryInputs returns the inputs of deliveries of one trigger. It combines deliveries of one
// endpoint that were given up together. Deliveries without stored inputs are left out.
func (l *Ledger) RetryInputs(org, triggerID string, deliveries []events.Delivery) (t events.Trigger, found []events.RetryInputs, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		tally, err := find(tx, org, triggerID)
		if err != nil {
			return err
		}
		t = tally.Trigger
		t.Sequence = tally.Sequence
		found, err = keptOf(tx, triggerID, deliveries)
		return err
	})
	return t, found, err
}

// keeper is a receipt that stores inputs for an endpoint.
type keeper struct{ endpoint, receipt string }

func keptOf(tx *bbolt.Tx, triggerID string, deliveries []events.Delivery) (found []events.RetryInputs, err error) {
	wanted := map[keeper][]string{} // homes, sorted like deliveries
	var order []keeper
	kept := map[keeper][]events.RetryInputs{}
	for i := range deliveries {
		d := &deliveries[i]
		from, list, err := keptFrom(tx, triggerID, d, kept)
		if err != nil {
			return nil, err
		}
		kept[from] = list
		if wanted[from] == nil {
			order = append(order, from)
		}
		wanted[from] = append(wanted[from], d.HomeID)
	}
	for _, from := range order {
		homes := wanted[from]
		slices.Sort(homes)
		for i := range kept[from] {
			k := &kept[from][i]
			if k.EndpointID != from.endpoint {
				continue
			}
			if part, ok := k.Of(func(id string) bool { _, in := slices.BinarySearch(homes, id); return in }); ok {
				found = append(found, part)
			}
		}
	}
	return found, nil
}

// keptFrom finds the receipt with the inputs of a delivery. It returns all inputs in that
// receipt, and reuses read.
func keptFrom(tx *bbolt.Tx, triggerID string, d *events.Delivery, read map[keeper][]events.RetryInputs) (keeper, []events.RetryInputs, error) {
	have, ok, err := decodeRetried(tx.Bucket([]byte(retriedBucket)).Get(key(triggerID, d.HomeID, d.EndpointID)))
	if err != nil {
		return keeper{}, nil, err
	}
	if ok && have.Kept != "" {
		from := keeper{d.EndpointID, have.Kept}
		if list, known := read[from]; known {
			return from, list, nil
		}
		value := tx.Bucket([]byte(keptBucket)).Get(key(triggerID, have.Kept))
		if value == nil {
			return from, nil, nil
		}
		var list []events.RetryInputs
		err := json.Unmarshal(value, &list)
		return from, list, err
	}
	number, value, ok, err := slicesOf(tx, triggerID).ofHome(d.HomeID)
	if err != nil || !ok {
		return keeper{d.EndpointID, ""}, nil, err
	}
	from := keeper{d.EndpointID, (&events.Slice{Number: number}).Key()}
	if list, known := read[from]; known {
		return from, list, nil
	}
	r, err := decodeSlice(value)
	if err != nil {
		return from, nil, err
	}
	return from, r.RetryInputs, nil
}
