package events

import (
	"time"

	"github.com/gridhook/gridhook/storage"
)

// StalledAfter is how long a walk may make no progress before it is checked.
const StalledAfter = 4 * time.Second

// WalkPosition is the position of a trigger's walk. Every slice up to Slice is on the
// queue, or soon will be.
type WalkPosition struct {
	OrganizationID string `json:"organizationId"`
	TriggerID      string `json:"triggerId"`
	Slice          int    `json:"slice"`
	// Last reports whether Slice is the last slice of the walk.
	Last bool `json:"last,omitempty"`
}

// WalkFollower receives triggers in the order of their sequences, and the positions of
// their walks.
type WalkFollower interface {
	Accepted(t Trigger)
	Reached(p WalkPosition)
}

// DeadLetter is a message that could not be processed. Its homes' deliveries are recorded
// as failed, so no outcome is lost.
type DeadLetter struct {
	ID string `json:"id"`
	// Kind is the kind of message: slice, retry, or the queue of a message that does not
	// decode.
	Kind           string `json:"kind"`
	OrganizationID string `json:"organizationId,omitempty"`
	TriggerID      string `json:"triggerId,omitempty"`
	// Reason is the error of the last attempt to process the message.
	Reason string       `json:"reason"`
	At     storage.Time `json:"at"`
	// Body is the content of the message.
	Body []byte `json:"body"`
}
