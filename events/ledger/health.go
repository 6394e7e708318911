package ledger

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// foldHealth adds a receipt's requests to the health of their endpoints. A batch is one
// request, and a batch that delivered a message is a success.
func foldHealth(tx *bbolt.Tx, m *events.Sequenced[events.Receipt]) error {
	r := &m.Value
	changed := map[string]*events.Health{}
	delivered, noted := map[string]bool{}, map[string]bool{} // by batch
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Outcome == events.OutcomeDelivered {
			delivered[d.BatchID] = true
		}
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		a := d.Last()
		if !a.Counts() {
			continue
		}
		if a.BatchID != "" {
			if noted[a.BatchID] || delivered[a.BatchID] && a.Outcome != events.OutcomeDelivered {
				continue
			}
			noted[a.BatchID] = true
		}
		h := changed[d.EndpointID]
		if h == nil {
			stored, found, err := healthTable.Get(tx, key(r.OrganizationID, d.EndpointID))
			if !found && a.Outcome != events.OutcomeDelivered { // an earlier success matters only to a failure
				stored, err = health(tx, r.OrganizationID, d.EndpointID)
			}
			if err != nil {
				return err
			}
			h = &stored
			changed[d.EndpointID] = h
		}
		h.Note(a, m.Stored)
	}
	for endpoint, h := range changed {
		if err := putHealth(tx, key(r.OrganizationID, endpoint), h); err != nil {
			return err
		}
	}
	return nil
}

// health returns an endpoint's health. Most endpoints never fail, and an organization may
// have a hundred thousand callbacks. So an endpoint without a failure has only the time of
// its last success, and EachHealth reads the others.
func health(tx *bbolt.Tx, org, endpointID string) (h events.Health, err error) {
	place := key(org, endpointID)
	h, found, err := healthTable.Get(tx, place)
	if found || err != nil {
		return h, err
	}
	at, found, err := successTable.Get(tx, place)
	h.State = events.HealthUnknown
	if found {
		h.State, h.LastSuccessAt = events.HealthGood, storage.Time{Time: time.UnixMilli(at).UTC()}
	}
	return h, err
}

func putHealth(tx *bbolt.Tx, place []byte, h *events.Health) error {
	if h.LastFailureAt.IsZero() {
		return successTable.Put(tx, place, h.LastSuccessAt.UnixMilli())
	}
	return healthTable.Put(tx, place, *h)
}

// Health returns an endpoint's recent health.
func (l *Ledger) Health(org, endpointID string) (h events.Health, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		h, err = health(tx, org, endpointID)
		return err
	})
	return h, err
}

// EachHealth calls do for the health of every endpoint that has failed.
func (l *Ledger) EachHealth(do func(endpoint storage.Ref, h events.Health)) error {
	return l.file.View(func(tx *bbolt.Tx) error {
		return healthTable.Each(tx, nil, func(k []byte, h events.Health) error {
			org, endpoint, _ := bytes.Cut(k, []byte{0})
			do(storage.KindWebhookEndpoint.Ref(string(org), string(endpoint)), h)
			return nil
		})
	})
}
