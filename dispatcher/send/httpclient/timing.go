package httpclient

import (
	"context"
	"net/http/httptrace"
	"time"
)

// Timing holds the durations of a request's phases, 0 for phases that did not happen.
type Timing struct {
	// DNS, Connect and TLS are the durations of the name resolution, the connection and
	// the TLS handshake of a new connection.
	DNS, Connect, TLS time.Duration
	// FirstByte is the time from sending the request to the first byte of the response,
	// or to the end of the wait.
	FirstByte time.Duration
}

// resolving returns a context that records the duration of the name resolution.
func resolving(ctx context.Context) (context.Context, *time.Duration) {
	var started time.Time
	took := new(time.Duration)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { started = time.Now() },
		DNSDone:  func(httptrace.DNSDoneInfo) { *took = time.Since(started) },
	}), took
}
