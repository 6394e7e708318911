package ledger

import (
	"slices"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

// RetryInputs returns the inputs of deliveries of one trigger. It combines deliveries of one
// endpoint that were given up together. Deliveries without stored inputs are left out.
// Errors: storage.ErrNotFound.
func (l *Ledger) RetryInputs(org, triggerID string, deliveries []events.Delivery) (t events.Trigger, found []events.RetryInputs, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		tally, err := find(tx, org, triggerID)
		if err != nil {
			return err
		}
		t = tally.trigger()
		found, err = inputsOf(tx, triggerID, deliveries)
		return err
	})
	return t, found, err
}

// inputSource is a receipt that stores inputs for an endpoint.
type inputSource struct{ endpoint, receipt string }

func inputsOf(tx *bbolt.Tx, triggerID string, deliveries []events.Delivery) (found []events.RetryInputs, err error) {
	wanted := map[inputSource][]string{} // homes, sorted like deliveries
	var order []inputSource
	kept := map[inputSource][]events.RetryInputs{}
	for i := range deliveries {
		d := &deliveries[i]
		from, list, err := inputsFrom(tx, triggerID, d, kept)
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

// inputsFrom finds the receipt with the inputs of a delivery. It returns all inputs in that
// receipt, and reuses read.
func inputsFrom(tx *bbolt.Tx, triggerID string, d *events.Delivery, read map[inputSource][]events.RetryInputs) (inputSource, []events.RetryInputs, error) {
	have, ok, err := retriedTable.Get(tx, key(triggerID, d.HomeID, d.EndpointID))
	if err != nil {
		return inputSource{}, nil, err
	}
	if ok && have.InputsReceipt != "" {
		from := inputSource{d.EndpointID, have.InputsReceipt}
		if list, known := read[from]; known {
			return from, list, nil
		}
		list, _, err := inputsTable.Get(tx, key(triggerID, have.InputsReceipt))
		return from, list, err
	}
	number, value, ok, err := slicesOf(tx, triggerID).ofHome(d.HomeID)
	if err != nil || !ok {
		return inputSource{d.EndpointID, ""}, nil, err
	}
	from := inputSource{d.EndpointID, (&events.Slice{Number: number}).Key()}
	if list, known := read[from]; known {
		return from, list, nil
	}
	r, err := decodeSlice(value)
	if err != nil {
		return from, nil, err
	}
	return from, r.RetryInputs, nil
}
