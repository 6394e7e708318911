package ledger

import (
	"bytes"
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// foldHealth adds a receipt's requests to the health of their endpoints. A batch is one
// request, and a batch that delivered a message is a success.
func foldHealth(tx *boltfile.Tx, r *events.Receipt) error {
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
			h = &events.Health{State: events.HealthUnknown}
			changed[d.EndpointID] = h
			if value := tx.Get(healthBucket, key(r.OrganizationID, d.EndpointID)); value != nil {
				if err := json.Unmarshal(value, h); err != nil {
					return err
				}
			}
		}
		h.Note(&a)
	}
	for endpoint, h := range changed {
		value, err := json.Marshal(h)
		if err != nil {
			return err
		}
		if err := tx.Put(healthBucket, key(r.OrganizationID, endpoint), value); err != nil {
			return err
		}
	}
	return nil
}

// Health returns an endpoint's recent health.
func (l *Ledger) Health(org, endpointID string) (h events.Health, err error) {
	h.State = events.HealthUnknown
	err = l.file.View(func(tx *bbolt.Tx) error {
		if value := tx.Bucket([]byte(healthBucket)).Get(key(org, endpointID)); value != nil {
			return json.Unmarshal(value, &h)
		}
		return nil
	})
	return h, err
}

// EachHealth calls do for the health of every endpoint until do returns false.
func (l *Ledger) EachHealth(do func(endpoint storage.Ref, h events.Health) bool) error {
	return l.file.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(healthBucket)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			var h events.Health
			if err := json.Unmarshal(v, &h); err != nil {
				return err
			}
			org, endpoint, _ := bytes.Cut(k, []byte{0})
			if !do(storage.WebhookEndpointRef(string(org), string(endpoint)), h) {
				return nil
			}
		}
		return nil
	})
}

// triedAt returns the time of the last attempt in a stored health.
func triedAt(value []byte) (time.Time, error) {
	var h events.Health
	err := json.Unmarshal(value, &h)
	if h.LastSuccessAt.After(h.LastFailureAt.Time) {
		return h.LastSuccessAt.Time, err
	}
	return h.LastFailureAt.Time, err
}
