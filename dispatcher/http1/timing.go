package http1

import (
	"context"
	"net/http/httptrace"
	"time"
)

// Timing is how long the parts of a request took, 0 for those that there were not.
type Timing struct {
	// DNS, Connect and TLS are those of a new connection: to resolve its name, to
	// connect, and to shake hands.
	DNS, Connect, TLS time.Duration
	// FirstByte is from the sending of the request to the first byte of its answer,
	// or to the end of waiting for one.
	FirstByte time.Duration
}

// resolving returns a context under which the resolving of a name is timed.
func (t *Timing) resolving(ctx context.Context) context.Context {
	var started time.Time
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { started = time.Now() },
		DNSDone:  func(httptrace.DNSDoneInfo) { t.DNS = time.Since(started) },
	})
}
