package events

import (
	"crypto/sha256"
	"strconv"
)

// Receipt says what became of the homes of a slice, or of a retry. It is stored
// before the slice or retry is acknowledged.
type Receipt struct {
	TriggerID      string `json:"triggerId"`
	OrganizationID string `json:"organizationId"`
	// Key names the slice or the retry within the trigger; a repeat after a
	// crash has the same key.
	Key string `json:"key"`
	// Slice is set on the receipt of a slice.
	Slice *SliceBounds `json:"slice,omitempty"`
	// Notice is set on the receipt of an endpoint's being told of a notice, whose
	// identifier stands in TriggerID. It has no home.
	Notice bool `json:"notice,omitempty"`
	// Deliveries are what became of each home and endpoint.
	Deliveries []Delivery `json:"deliveries"`
	// Kept is what those were made of that were given up.
	Kept []Kept `json:"kept,omitempty"`
}

// SliceBounds say which homes a slice covered.
type SliceBounds struct {
	Number int    `json:"number"`
	After  string `json:"after"`
	// Through is the slice's last place, empty when it had none: a home that may
	// have been deleted before the trigger.
	Through string `json:"through"`
	Homes   int    `json:"homes"`
	// Last marks the end of the walk.
	Last bool `json:"last"`
}

// Key names the slice within its trigger.
func (s *Slice) Key() string { return "s" + strconv.Itoa(s.Number) }

// Key names the retry within its trigger: its round, its endpoint and, by a hash,
// its homes. After a crash homes may be put off again, in other company: the one
// retry must not replace the other, nor be taken for it.
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

// ParkedKey names the place where a trigger's walk is parked from a slice on.
func ParkedKey(number int) string { return "walk." + strconv.Itoa(number) }
