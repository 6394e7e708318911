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

// GivenUp reports whether a delivery with this outcome can be retried manually.
func (o Outcome) GivenUp() bool { return o == OutcomeFailed || o == OutcomeExpired }

// Delivery is the state of one home's signal, or of an event, at one endpoint, after an
// attempt or without any. A stored receipt leaves out MessageID. Decode the receipt to get it.
type Delivery struct {
	MessageID    string       `json:"id,omitempty" doc:"The webhook-id, the same on every attempt. Empty if there was no message (UNPRICEABLE, NO_ENDPOINT)." example:"msg_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	TriggerID    string       `json:"triggerId,omitempty" doc:"The trigger of the delivery, or the event (evt_)." example:"trg_01JZ2E6K8M0000000000000000"`
	EventType    string       `json:"eventType,omitempty" doc:"The type of an event. Absent for a signal." example:"flex_alert"`
	HomeID       string       `json:"homeId" doc:"Empty for an event." example:"home_1"`
	EndpointID   string       `json:"endpointId,omitempty" doc:"The endpoint, or the notification channel (ch_)." example:"ep_01JZ2E6K8M0000000000000000"`
	Outcome      Outcome      `json:"outcome" example:"RETRYING"`
	Attempt      int          `json:"attempt" doc:"The number of requests so far. 0 if there was none." example:"2"`
	At           storage.Time `json:"at"`
	BatchID      string       `json:"batchId,omitempty" doc:"The webhook-id of the last request, if it was a batch." example:"bat_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	Status       int          `json:"status,omitempty" doc:"The HTTP status of the last attempt. Absent without a response, and if the outcome had no request, such as FAILED when the endpoint was disabled." example:"503"`
	ErrorClass   ErrorClass   `json:"errorClass,omitempty" doc:"The kind of an unsuccessful attempt. status: not 2xx. token: no access token. dns: unknown host name. not_allowed: forbidden destination. connect, tls, timeout: as named. answer: no valid HTTP response. stopping: the worker stopped." example:"status"`
	Milliseconds float64      `json:"durationMs,omitempty" doc:"The duration of the last attempt." example:"41.7"`
	Timing       Timing       `json:"timing,omitzero" doc:"The durations of the last attempt's parts."`
	Reason       string       `json:"reason,omitempty" doc:"Why the outcome is not DELIVERED." example:"the endpoint responded 503"`
	Response     string       `json:"answer,omitempty" doc:"The beginning of the response's body, if the attempt was not successful." example:"upstream unavailable"`
	NextAt       storage.Time `json:"nextAt,omitzero" doc:"When a RETRYING delivery is due." example:"2026-07-01T12:00:09.000Z"`
}
