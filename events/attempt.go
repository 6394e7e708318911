package events

import "github.com/gridhook/gridhook/storage"

// ErrorClass is the kind of an unsuccessful attempt.
type ErrorClass string

// The classes of errors.
const (
	// ErrorStatus: the endpoint answered another status than 2xx.
	ErrorStatus ErrorClass = "status"
	// ErrorDNS: its name could not be resolved.
	ErrorDNS ErrorClass = "dns"
	// ErrorToken: no access token could be had to authorize the request.
	ErrorToken ErrorClass = "token"
	// ErrorNotAllowed: its name led to where webhooks may not go.
	ErrorNotAllowed ErrorClass = "not_allowed"
	// ErrorConnect: no connection could be made.
	ErrorConnect ErrorClass = "connect"
	// ErrorTLS: the TLS handshake failed.
	ErrorTLS ErrorClass = "tls"
	// ErrorTimeout: there was no complete answer in time.
	ErrorTimeout ErrorClass = "timeout"
	// ErrorAnswer: the connection ended without an answer, or what came was none.
	ErrorAnswer ErrorClass = "answer"
	// ErrorStopping: the attempt was cut off because the worker was stopping.
	ErrorStopping ErrorClass = "stopping"
)

// ErrorClasses are all classes of errors.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		ErrorStatus, ErrorToken, ErrorDNS, ErrorNotAllowed, ErrorConnect, ErrorTLS, ErrorTimeout, ErrorAnswer, ErrorStopping,
	}
}

// Timing is how long the parts of an attempt took, in milliseconds.
type Timing struct {
	// DNS, Connect and TLS are those of a new connection, and absent on one that
	// was open already.
	DNS     float64 `json:"dnsMs,omitempty"`
	Connect float64 `json:"connectMs,omitempty"`
	TLS     float64 `json:"tlsMs,omitempty"`
	// FirstByte is from the sending of the request to the first byte of the
	// answer. It is absent where that came within a millisecond of the end.
	FirstByte float64 `json:"firstByteMs,omitempty"`
}

// Attempt is one request of a delivery, or the end of it without a request.
type Attempt struct {
	// Number counts the requests from 1, and anew when the delivery is taken up
	// again by hand.
	Number  int          `json:"attempt"`
	Outcome Outcome      `json:"outcome"`
	At      storage.Time `json:"at"`
	// BatchID is the webhook-id that the request had, where it was for a batch; absent
	// where the message was sent on its own.
	BatchID string `json:"batchId,omitempty"`
	// Status is the HTTP status answered, absent when there was no answer.
	Status     int        `json:"status,omitempty"`
	ErrorClass ErrorClass `json:"errorClass,omitempty"`
	// Milliseconds is how long it took.
	Milliseconds float64 `json:"durationMs,omitempty"`
	Timing       Timing  `json:"timing,omitzero"`
	// Reason says in words why it was not successful.
	Reason string `json:"reason,omitempty"`
	// Answer is the beginning of an unsuccessful answer's body.
	Answer string `json:"answer,omitempty"`
	// NextAt is when the next one was due.
	NextAt storage.Time `json:"nextAt,omitzero"`
}

// Last is the latest attempt of a delivery.
func (d *Delivery) Last() Attempt {
	return Attempt{
		Number: d.Attempt, Outcome: d.Outcome, At: d.At, BatchID: d.BatchID, Status: d.Status, ErrorClass: d.ErrorClass,
		Milliseconds: d.Milliseconds, Timing: d.Timing, Reason: d.Reason, Answer: d.Answer, NextAt: d.NextAt,
	}
}

// Tried reports whether a request was made.
func (a *Attempt) Tried() bool { return a.Milliseconds > 0 }

// DeliveryLog is a delivery with all its attempts, the first one first.
type DeliveryLog struct {
	Delivery
	Attempts []Attempt `json:"attempts"`
}
