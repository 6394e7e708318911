package events

import "github.com/gridhook/gridhook/storage"

// Outcome is the outcome of one home's signal at one endpoint.
type Outcome string

// The outcomes. All except OutcomeRetrying are final.
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

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{
		OutcomeDelivered, OutcomeRetrying, OutcomeFailed, OutcomeSuperseded,
		OutcomeExpired, OutcomeUnchanged, OutcomeUnpriceable, OutcomeNoEndpoint,
	}
}

// Final reports whether no attempt follows.
func (o Outcome) Final() bool { return o != OutcomeRetrying }

// Delivery is the state of one home's signal at one endpoint, after an attempt or without
// any.
type Delivery struct {
	MessageID    string       `json:"id,omitempty" doc:"The webhook-id, the same on every attempt; empty where no message was made (UNPRICEABLE, NO_ENDPOINT)." example:"msg_5d0c1f2a9b"`
	TriggerID    string       `json:"triggerId,omitempty" doc:"The trigger that asked for it." example:"trg_01JZ2E6K8M0000000000000000"`
	HomeID       string       `json:"homeId" example:"home_1"`
	EndpointID   string       `json:"endpointId,omitempty" example:"ep_01JZ2E6K8M0000000000000000"`
	Outcome      Outcome      `json:"outcome" example:"RETRYING"`
	Attempt      int          `json:"attempt" doc:"attempt counts the requests made so far, from 1; 0 when none was made." example:"2"`
	At           storage.Time `json:"at"`
	BatchID      string       `json:"batchId,omitempty" doc:"The webhook-id of the request, where that carried several messages." example:"bat_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	Status       int          `json:"status,omitempty" doc:"The HTTP status answered, 0 when there was no answer." example:"503"`
	ErrorClass   ErrorClass   `json:"errorClass,omitempty" doc:"The kind of an unsuccessful attempt: status (another than 2xx), dns, not_allowed (a destination that webhooks may not go to), connect, tls, timeout, answer (the connection ended, or what came was no HTTP), stopping (cut off by a worker's stop)." example:"status"`
	Milliseconds float64      `json:"durationMs,omitempty" doc:"How long the attempt took." example:"41.7"`
	Timing       Timing       `json:"timing,omitzero" doc:"How long the parts of the attempt took."`
	Reason       string       `json:"reason,omitempty" doc:"reason says in words why the outcome is not DELIVERED." example:"the endpoint responded 503"`
	Answer       string       `json:"answer,omitempty" doc:"The beginning of an unsuccessful answer's body." example:"upstream unavailable"`
	NextAt       storage.Time `json:"nextAt,omitzero" doc:"When a RETRYING delivery is due." example:"2026-07-01T12:00:09.000Z"`
}
