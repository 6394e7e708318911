package events

import (
	"crypto/sha256"
	"strconv"
)

// Receipt records the outcomes of a slice or a retry. It is stored before the worker
// acknowledges the slice or retry.
type Receipt struct {
	TriggerID      string `json:"triggerId"`
	OrganizationID string `json:"organizationId"`
	// Key identifies the slice or the retry within the trigger. A repeat after a crash
	// has the same key.
	Key string `json:"key"`
	// Slice is set on receipts of slices.
	Slice *SliceBounds `json:"slice,omitempty"`
	// EventType is set on receipts of notices. TriggerID then holds the identifier of the
	// notice, and deliveries have no home.
	EventType string `json:"eventType,omitempty"`
	// Deliveries are the deliveries of each home and endpoint. The stored form groups them.
	Deliveries []Delivery `json:"-"`
	// RetryBytes is the size of the stored retries of the deliveries, in bytes.
	RetryBytes int `json:"retryBytes,omitempty"`
	// RetryInputs holds the inputs of the deliveries that were given up.
	RetryInputs []RetryInputs `json:"kept,omitempty"`
}

// SliceBounds are the bounds of a slice.
type SliceBounds struct {
	Number int    `json:"number"`
	After  string `json:"after"`
	// Through is the last home of the slice, empty if the slice has none. The home may
	// have been deleted before the trigger.
	Through string `json:"through"`
	Homes   int    `json:"homes"`
	// Last reports whether the slice ends the walk.
	Last bool `json:"last"`
}

// Key identifies the slice within its trigger.
func (s *Slice) Key() string { return "s" + strconv.Itoa(s.Number) }

// Key identifies the retry within its trigger by its round, its endpoint and a hash of
// its homes. After a crash, a home may join a retry with other homes. The new retry must
// not replace the old retry or count as the same.
func (r *Retry) Key() string {
	if r.Walk != nil {
		return ParkedKey(r.Walk.Number)
	}
	h := sha256.New()
	for i := range r.Homes {
		h.Write([]byte(r.Homes[i].HomeID))
		h.Write([]byte{0})
	}
	return "r" + strconv.Itoa(r.Round) + "." + r.EndpointID + "." + crockford.EncodeToString(h.Sum(nil)[:10]) + r.Trigger.again()
}

// ParkedKey identifies a walk that is parked from a slice on.
func ParkedKey(number int) string { return "walk." + strconv.Itoa(number) }
