package dispatcher

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/gridhook/gridhook/dispatcher/http1"
	"github.com/gridhook/gridhook/events"
)

// describe adds to a delivery what its last attempt was like.
func (a *attempt) describe(d *events.Delivery) {
	d.ErrorClass, d.Timing = classify(a), a.parts()
}

// parts are how long the parts of the attempt took.
func (a *attempt) parts() events.Timing {
	t := events.Timing{DNS: ms(a.timing.DNS), Connect: ms(a.timing.Connect), TLS: ms(a.timing.TLS)}
	if rest := a.took - a.timing.DNS - a.timing.Connect - a.timing.TLS; rest-a.timing.FirstByte > time.Millisecond {
		t.FirstByte = ms(a.timing.FirstByte)
	}
	return t
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// classify finds the kind of an unsuccessful attempt, "" for a successful one and
// for none.
func classify(a *attempt) events.ErrorClass {
	switch {
	case a.err != nil:
		return classifyError(a.err)
	case a.status != 0 && judge(*a) != delivered:
		return events.ErrorStatus
	}
	return ""
}

func classifyError(err error) events.ErrorClass {
	var (
		dns         *net.DNSError
		network     net.Error
		operation   *net.OpError
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.Is(err, errStopping):
		return events.ErrorStopping
	case errors.Is(err, errToken):
		return events.ErrorToken
	case errors.Is(err, errNotAllowed):
		return events.ErrorNotAllowed
	case errors.As(err, &dns):
		return events.ErrorDNS
	case errors.Is(err, errNoAnswer), errors.As(err, &network) && network.Timeout():
		return events.ErrorTimeout
	case errors.Is(err, http1.ErrTLS), errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &record), errors.As(err, &alert),
		errors.As(err, &operation) && operation.Op == "remote error": // an alert that came later, as for a client certificate
		return events.ErrorTLS
	case errors.As(err, &operation) && operation.Op == "dial":
		return events.ErrorConnect
	}
	return events.ErrorAnswer
}

// tracer times a request of net/http's transport, whose goroutines may go on
// after the request has ended.
type tracer struct {
	mu                                   sync.Mutex
	resolving, connecting, shaking, sent time.Time
	timing                               http1.Timing
}

// trace returns a context under which a request is timed.
func (t *tracer) trace(ctx context.Context) context.Context {
	begin := func(at *time.Time) {
		t.mu.Lock()
		defer t.mu.Unlock()
		*at = time.Now()
	}
	end := func(at *time.Time, took *time.Duration) {
		t.mu.Lock()
		defer t.mu.Unlock()
		*took = time.Since(*at)
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { begin(&t.resolving) },
		DNSDone:              func(httptrace.DNSDoneInfo) { end(&t.resolving, &t.timing.DNS) },
		ConnectStart:         func(string, string) { begin(&t.connecting) },
		ConnectDone:          func(string, string, error) { end(&t.connecting, &t.timing.Connect) },
		TLSHandshakeStart:    func() { begin(&t.shaking) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { end(&t.shaking, &t.timing.TLS) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { begin(&t.sent) },
		GotFirstResponseByte: func() { end(&t.sent, &t.timing.FirstByte) },
	})
}

// taken is what was timed so far.
func (t *tracer) taken() http1.Timing {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timing
}
