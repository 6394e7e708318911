package events

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// TraceHeader is the header of a Traceparent, over HTTP and NATS.
const TraceHeader = "Traceparent"

// Traceparent is a trace context in the form of W3C Trace Context:
// 00-<trace>-<span>-<flags>. It is empty without a trace.
type Traceparent string

// TraceparentOf returns the trace context of a span, empty without a span.
func TraceparentOf(sc trace.SpanContext) Traceparent {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), sc), carrier)
	return Traceparent(carrier.Get(carrierKey))
}

// carrierKey is the propagation package's spelling of TraceHeader.
const carrierKey = "traceparent"

// Under returns a context whose new spans are children of p. It ignores an invalid
// traceparent.
func (p Traceparent) Under(ctx context.Context) context.Context {
	if p == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{carrierKey: string(p)})
}
