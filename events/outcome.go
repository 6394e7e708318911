package events

import "github.com/gridhook/gridhook/storage"

// Outcome is what became of one home's signal at one endpoint.
type Outcome string

// The outcomes. All but OutcomeRetrying are final.
const (
	OutcomeDelivered   Outcome = "DELIVERED"
	OutcomeRetrying    Outcome = "RETRYING"
	OutcomeFailed      Outcome = "FAILED"
	OutcomeSuperseded  Outcome = "SUPERSEDED"
	OutcomeExpired     Outcome = "EXPIRED"
	OutcomeUnchanged   Outcome = "UNCHANGED"
	OutcomeUnpriceable Outcome = "UNPRICEABLE"
	OutcomeNoEndpoint  Outcome = "NO_ENDPOINT"
)

// Outcomes are all outcomes.
func Outcomes() []Outcome {
	return []Outcome{
		OutcomeDelivered, OutcomeRetrying, OutcomeFailed, OutcomeSuperseded,
		OutcomeExpired, OutcomeUnchanged, OutcomeUnpriceable, OutcomeNoEndpoint,
	}
}

// Final reports whether nothing more will be tried.
func (o Outcome) Final() bool { return o != OutcomeRetrying }

// Delivery is what became of one home's signal at one endpoint, after one
// attempt or without any.
type Delivery struct {
	// MessageID is the webhook-id, the same on every attempt; empty where no
	// message was made (UNPRICEABLE, NO_ENDPOINT).
	MessageID string `json:"id,omitempty"`
	// TriggerID is set where deliveries are shown, and not stored with each.
	TriggerID  string  `json:"triggerId,omitempty"`
	HomeID     string  `json:"homeId"`
	EndpointID string  `json:"endpointId,omitempty"`
	Outcome    Outcome `json:"outcome"`
	// Attempt counts the requests made so far, from 1; 0 when none was made.
	Attempt int          `json:"attempt"`
	At      storage.Time `json:"at"`
	// BatchID is the webhook-id of the request, where that carried several messages.
	BatchID string `json:"batchId,omitempty"`
	// Status is the HTTP status answered, 0 when there was no answer.
	Status int `json:"status,omitempty"`
	// ErrorClass is the kind of an unsuccessful attempt.
	ErrorClass ErrorClass `json:"errorClass,omitempty"`
	// Milliseconds is how long the attempt took.
	Milliseconds float64 `json:"durationMs,omitempty"`
	// Timing is how long its parts took.
	Timing Timing `json:"timing,omitzero"`
	// Reason says in words why the outcome is not DELIVERED.
	Reason string `json:"reason,omitempty"`
	// Answer is the beginning of an unsuccessful answer's body.
	Answer string `json:"answer,omitempty"`
	// NextAt is when a RETRYING delivery is due, zero otherwise.
	NextAt storage.Time `json:"nextAt,omitzero"`
}
