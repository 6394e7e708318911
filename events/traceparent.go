package events

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// TraceHeader is the header that a Traceparent travels in, over HTTP and NATS alike.
const TraceHeader = "Traceparent"

// Traceparent is a place in a trace, as W3C Trace Context writes it:
// 00-<trace>-<span>-<flags>. It is empty where nothing is traced.
type Traceparent string

// TraceparentOf is the place of a span, empty where there is none.
func TraceparentOf(sc trace.SpanContext) Traceparent {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), sc), carrier)
	return Traceparent(carrier.Get(carrierKey))
}

// carrierKey is how propagation writes TraceHeader.
const carrierKey = "traceparent"

// Under returns a context in which the spans that begin are the place's children.
// What is no traceparent is none.
func (p Traceparent) Under(ctx context.Context) context.Context {
	if p == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{carrierKey: string(p)})
}
