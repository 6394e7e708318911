package events

import "github.com/gridhook/gridhook/storage"

// ErrorClass is the kind of an unsuccessful attempt.
type ErrorClass string

// The classes of errors.
const (
	// ErrorStatus: the endpoint responded with a status other than 2xx.
	ErrorStatus ErrorClass = "status"
	// ErrorDNS: the endpoint's host name did not resolve.
	ErrorDNS ErrorClass = "dns"
	// ErrorToken: Gridhook could not get an access token for the request.
	ErrorToken ErrorClass = "token"
	// ErrorNotAllowed: the host name resolved to an address that webhooks may not reach.
	ErrorNotAllowed ErrorClass = "not_allowed"
	// ErrorConnect: the connection failed.
	ErrorConnect ErrorClass = "connect"
	// ErrorTLS: the TLS handshake failed.
	ErrorTLS ErrorClass = "tls"
	// ErrorTimeout: the complete response did not arrive before the timeout.
	ErrorTimeout ErrorClass = "timeout"
	// ErrorAnswer: the connection ended without a response, or the response was not valid
	// HTTP.
	ErrorAnswer ErrorClass = "answer"
	// ErrorStopping: the worker stopped and canceled the attempt.
	ErrorStopping ErrorClass = "stopping"
)

// ErrorClasses returns all error classes.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		ErrorStatus, ErrorToken, ErrorDNS, ErrorNotAllowed, ErrorConnect, ErrorTLS, ErrorTimeout, ErrorAnswer, ErrorStopping,
	}
}

// Timing is the duration of an attempt's phases, in milliseconds.
type Timing struct {
	DNS       float64 `json:"dnsMs,omitempty" doc:"dnsMs, connectMs and tlsMs are those of a new connection, and absent on one that was open already." example:"3.2"`
	Connect   float64 `json:"connectMs,omitempty" example:"11.4"`
	TLS       float64 `json:"tlsMs,omitempty" example:"14.9"`
	FirstByte float64 `json:"firstByteMs,omitempty" doc:"firstByteMs is from the sending of the request to the first byte of the answer. It is absent where that came within a millisecond of the end." example:"10.1"`
}

// Attempt is one request of a delivery, or its end without a request.
type Attempt struct {
	Number       int          `json:"attempt" doc:"attempt counts the requests from 1, and again from 1 when the delivery is retried by hand. A request that a worker cut off because it stopped does not count." example:"2"`
	Outcome      Outcome      `json:"outcome" doc:"What became of the delivery by it." example:"RETRYING"`
	At           storage.Time `json:"at"`
	BatchID      string       `json:"batchId,omitempty" doc:"The webhook-id that the request had, where it was for a batch; absent where the message was sent on its own." example:"bat_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	Status       int          `json:"status,omitempty" doc:"The HTTP status answered, absent when there was no answer." example:"503"`
	ErrorClass   ErrorClass   `json:"errorClass,omitempty" doc:"As of a delivery." example:"status"`
	Milliseconds float64      `json:"durationMs,omitempty" doc:"How long it took." example:"41.7"`
	Timing       Timing       `json:"timing,omitzero" doc:"How long its parts took."`
	Reason       string       `json:"reason,omitempty" doc:"reason says in words why it was not successful." example:"the endpoint responded 503"`
	Answer       string       `json:"answer,omitempty" doc:"The beginning of an unsuccessful answer's body." example:"upstream unavailable"`
	NextAt       storage.Time `json:"nextAt,omitzero" doc:"When the next one was due." example:"2026-07-01T12:00:09.000Z"`
}

// Last returns the latest attempt of a delivery.
func (d *Delivery) Last() Attempt {
	return Attempt{
		Number: d.Attempt, Outcome: d.Outcome, At: d.At, BatchID: d.BatchID, Status: d.Status, ErrorClass: d.ErrorClass,
		Milliseconds: d.Milliseconds, Timing: d.Timing, Reason: d.Reason, Answer: d.Answer, NextAt: d.NextAt,
	}
}

// Tried reports whether the attempt made a request.
func (a *Attempt) Tried() bool { return a.Milliseconds > 0 }

// Counts reports whether the attempt made a request that no stopping worker cut off. Only
// such a request uses up an attempt and says something about the endpoint.
func (a *Attempt) Counts() bool { return a.Tried() && a.ErrorClass != ErrorStopping }

// DeliveryLog is a delivery with all its attempts, oldest first.
type DeliveryLog struct {
	Delivery
	Attempts []Attempt `json:"attempts" doc:"The first one first."`
}
