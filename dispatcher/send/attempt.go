package send

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Attempt is one request and its result.
type Attempt struct {
	At   time.Time
	Took time.Duration
	// Status is the HTTP status, 0 without a response.
	Status int
	Err    error
	// Response is the beginning of an unsuccessful response's body.
	Response string
	// RetryAfter is the delay that the endpoint requested, 0 for none.
	RetryAfter time.Duration
	Timing     httpclient.Timing
	// Body is the stored part of a successful response's body.
	Body []byte
	// TraceID is the trace of the attempt's span, zero without a span.
	TraceID trace.TraceID

	// token is the access token of the request, "" without one.
	token string
}

// Verdict returns the meaning of the attempt for its message.
func (a *Attempt) Verdict() policy.Verdict { return policy.Judge(a.Status, a.Err) }

// longestReason limits a reason, in bytes: a receipt has one for each home.
const longestReason = 500

// Reason returns why the attempt failed. It is "" after a success or without a request.
func (a *Attempt) Reason() string {
	switch {
	case a.Err != nil:
		text := a.Err.Error() // it may quote a response
		return validText([]byte(text[:min(len(text), longestReason)]))
	case a.Status/100 == 3:
		return "the endpoint responded " + statusLine(a.Status) + ", and redirects are not followed"
	case a.Status != 0 && a.Verdict() != policy.Delivered:
		return "the endpoint responded " + statusLine(a.Status)
	}
	return ""
}

// statusLine returns a status with its name.
func statusLine(status int) string {
	if name := http.StatusText(status); name != "" {
		return strconv.Itoa(status) + " " + name
	}
	return strconv.Itoa(status)
}

// Describe sets the result of the attempt in a delivery, except its outcome.
func (a *Attempt) Describe(d *events.Delivery) {
	d.At, d.Status, d.Response, d.Milliseconds = storage.Time{Time: a.At.UTC()}, a.Status, a.Response, ms(a.Took)
	d.Reason, d.ErrorClass, d.Timing = a.Reason(), a.ErrorClass(), a.parts()
}

// parts returns the durations of the attempt's phases. It leaves out a first byte that
// came within a millisecond of the end.
func (a *Attempt) parts() events.Timing {
	t := events.Timing{DNS: ms(a.Timing.DNS), Connect: ms(a.Timing.Connect), TLS: ms(a.Timing.TLS)}
	if rest := a.Took - a.Timing.DNS - a.Timing.Connect - a.Timing.TLS; rest-a.Timing.FirstByte > time.Millisecond {
		t.FirstByte = ms(a.Timing.FirstByte)
	}
	return t
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ErrorClass returns the class of a failed attempt. It is "" after a success or without a
// request.
func (a *Attempt) ErrorClass() events.ErrorClass {
	switch {
	case a.Err != nil:
		return classify(a.Err)
	case a.Status != 0 && a.Verdict() != policy.Delivered:
		return events.ErrorStatus
	}
	return ""
}

func classify(err error) events.ErrorClass {
	var network net.Error
	var operation *net.OpError
	switch {
	case errors.Is(err, ErrStopping):
		return events.ErrorStopping
	case errors.Is(err, errToken):
		return events.ErrorToken
	case errors.Is(err, errNotAllowed):
		return events.ErrorNotAllowed
	case errors.Is(err, errProxy), errors.Is(err, events.ErrNoRelayClient):
		return events.ErrorConnect
	case errors.As(err, new(*net.DNSError)):
		return events.ErrorDNS
	case errors.Is(err, errTimeout), errors.As(err, &network) && network.Timeout():
		return events.ErrorTimeout
	case errors.Is(err, httpclient.ErrTLS),
		errors.As(err, &operation) && operation.Op == "remote error": // a late alert, as for a client certificate
		return events.ErrorTLS
	case errors.As(err, &operation) && operation.Op == "dial":
		return events.ErrorConnect
	}
	return events.ErrorResponse
}

// errTimeout says that an attempt exceeded its timeout.
var errTimeout = errors.New("no complete response")

// ErrStopping says that an attempt was canceled because the worker was stopping.
var ErrStopping = errors.New("cut off because the worker was stopping")

// explain returns a readable error for a failed attempt. An error with its own timeout,
// such as a dial error, explains itself.
func explain(ctx context.Context, err error, timeout, took time.Duration) error {
	switch {
	case errors.Is(err, errToken) && !errors.Is(ctx.Err(), context.Canceled):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return ErrStopping
	case errors.Is(err, os.ErrDeadlineExceeded), took >= timeout && errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		return fmt.Errorf("%w within %s", errTimeout, timeout)
	}
	return err
}
