package events

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/storage"
)

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
	// ErrorConnect: the connection failed, or the egress proxy did not connect.
	ErrorConnect ErrorClass = "connect"
	// ErrorTLS: the TLS handshake failed.
	ErrorTLS ErrorClass = "tls"
	// ErrorTimeout: the complete response did not arrive before the timeout.
	ErrorTimeout ErrorClass = "timeout"
	// ErrorResponse: the connection ended without a response, or the response was not
	// valid HTTP.
	ErrorResponse ErrorClass = "answer"
	// ErrorStopping: the worker stopped and canceled the attempt.
	ErrorStopping ErrorClass = "stopping"
)

// ErrorClasses returns all error classes.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		ErrorStatus, ErrorToken, ErrorDNS, ErrorNotAllowed, ErrorConnect, ErrorTLS, ErrorTimeout, ErrorResponse, ErrorStopping,
	}
}

// Timing is the duration of an attempt's phases, in milliseconds.
type Timing struct {
	DNS       float64 `json:"dnsMs,omitempty" doc:"The time of the name resolution. dnsMs, connectMs and tlsMs are absent if the request used an open connection." example:"3.2"`
	Connect   float64 `json:"connectMs,omitempty" example:"11.4"`
	TLS       float64 `json:"tlsMs,omitempty" example:"14.9"`
	FirstByte float64 `json:"firstByteMs,omitempty" doc:"The time from the sent request to the first byte of the response. Absent if the first byte arrived within a millisecond of the end." example:"10.1"`
}

// Attempt is one request of a delivery, or its end without a request.
type Attempt struct {
	Number       int          `json:"attempt" doc:"The number of the request, from 1. A manual retry starts again at 1. A request that a stopping worker canceled does not count. An outcome without a request, such as SUPERSEDED, has the number of requests so far." example:"2"`
	Outcome      Outcome      `json:"outcome" doc:"The outcome of the delivery after the attempt." example:"RETRYING"`
	At           storage.Time `json:"at"`
	BatchID      string       `json:"batchId,omitempty" doc:"The webhook-id of the request of a batch. Absent if the message had its own request." example:"bat_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	Status       int          `json:"status,omitempty" doc:"The HTTP status of the response. Absent without a response." example:"503"`
	ErrorClass   ErrorClass   `json:"errorClass,omitempty" doc:"The kind of an unsuccessful attempt, as in a delivery." example:"status"`
	Milliseconds float64      `json:"durationMs,omitempty" doc:"The duration of the attempt." example:"41.7"`
	Timing       Timing       `json:"timing,omitzero" doc:"The durations of the attempt's parts."`
	Reason       string       `json:"reason,omitempty" doc:"Why the attempt was not successful." example:"the endpoint responded 503"`
	Response     string       `json:"answer,omitempty" doc:"The beginning of the response's body, if the attempt was not successful." example:"upstream unavailable"`
	NextAt       storage.Time `json:"nextAt,omitzero" doc:"When the next attempt was due." example:"2026-07-01T12:00:09.000Z"`
}

// Last returns the latest attempt of a delivery.
func (d *Delivery) Last() Attempt {
	return Attempt{
		Number: d.Attempt, Outcome: d.Outcome, At: d.At, BatchID: d.BatchID, Status: d.Status, ErrorClass: d.ErrorClass,
		Milliseconds: d.Milliseconds, Timing: d.Timing, Reason: d.Reason, Response: d.Response, NextAt: d.NextAt,
	}
}

// Tried reports whether the attempt made a request.
func (a *Attempt) Tried() bool { return a.Milliseconds > 0 }

// Counts reports whether the attempt made a request that no stopping worker canceled. Only
// such a request counts as an attempt, and as a result of the endpoint.
func (a *Attempt) Counts() bool { return a.Tried() && a.ErrorClass != ErrorStopping }

// DeliveryLog is a delivery with all its attempts, oldest first.
type DeliveryLog struct {
	Delivery
	Attempts []Attempt `json:"attempts" doc:"The attempts and the outcomes without a request, oldest first."`
}

// RetryAfter parses the header Retry-After: seconds or an HTTP date. It returns at most
// longest, and 0 for anything else.
func RetryAfter(header string, now time.Time, longest time.Duration) (d time.Duration) {
	n, err := strconv.Atoi(header)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, n is the largest or the smallest int
		d = time.Duration(min(n, int(longest/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), longest)
}
