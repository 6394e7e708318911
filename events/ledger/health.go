package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// foldHealth adds a receipt's attempts to the health of their endpoints.
func foldHealth(tx *boltfile.Tx, r *events.Receipt) error {
	changed := map[string]*events.Health{}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		a := d.Last()
		if !a.Tried() {
			continue
		}
		h := changed[d.EndpointID]
		if h == nil {
			stored, err := decodeHealth(tx.Get(healthBucket, key(r.OrganizationID, d.EndpointID)))
			if err != nil {
				return err
			}
			h = &stored
			changed[d.EndpointID] = h
		}
		h.Note(&a)
	}
	for endpoint, h := range changed {
		if err := tx.Put(healthBucket, key(r.OrganizationID, endpoint), encodeHealth(h)); err != nil {
			return err
		}
	}
	return nil
}

// A stored health is short and is not JSON, because each callback of an OpenADR change is
// an endpoint of its own with a health to update. It holds the times of the last success,
// of the last failure and since when the endpoint fails, in milliseconds since 1970 or 0;
// the number of consecutive failures; and the last failure's text.

func encodeHealth(h *events.Health) []byte {
	b := make([]byte, 0, 4*binary.MaxVarintLen64+len(h.LastFailure))
	for _, t := range []storage.Time{h.LastSuccessAt, h.LastFailureAt, h.FailingSince} {
		ms := int64(0)
		if !t.IsZero() {
			ms = t.UnixMilli()
		}
		b = binary.AppendVarint(b, ms)
	}
	b = binary.AppendVarint(b, int64(h.ConsecutiveFailures))
	return append(b, h.LastFailure...)
}

var errHealth = errors.New("the ledger has a health that cannot be read")

// decodeHealth reads a stored health. Without one, the health is unknown.
func decodeHealth(b []byte) (h events.Health, err error) {
	h.State = events.HealthUnknown
	if b == nil {
		return h, nil
	}
	var numbers [4]int64
	for i := range numbers {
		number, size := binary.Varint(b)
		if size <= 0 {
			return h, errHealth
		}
		numbers[i], b = number, b[size:]
	}
	for i, t := range []*storage.Time{&h.LastSuccessAt, &h.LastFailureAt, &h.FailingSince} {
		if numbers[i] != 0 {
			t.Time = time.UnixMilli(numbers[i]).UTC()
		}
	}
	h.ConsecutiveFailures, h.LastFailure, h.State = int(numbers[3]), string(b), events.HealthGood
	if !h.FailingSince.IsZero() {
		h.State = events.HealthFailing
	}
	return h, nil
}

// Health returns an endpoint's recent health.
func (l *Ledger) Health(org, endpointID string) (h events.Health, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		h, err = decodeHealth(tx.Bucket([]byte(healthBucket)).Get(key(org, endpointID)))
		return err
	})
	return h, err
}

// EachHealth calls do for the health of every endpoint until do returns false.
func (l *Ledger) EachHealth(do func(endpoint storage.Ref, h events.Health) bool) error {
	return l.file.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(healthBucket)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			h, err := decodeHealth(v)
			if err != nil {
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
	h, err := decodeHealth(value)
	if h.LastSuccessAt.After(h.LastFailureAt.Time) {
		return h.LastSuccessAt.Time, err
	}
	return h.LastFailureAt.Time, err
}
