package dispatcher

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/gridhook/gridhook/events"
)

// tracing makes a worker's spans: one for each message that it takes, and under it one
// for the first requests to each endpoint. A walk of a million homes is some 31,000
// spans so, not a million. Without a tracer there are none, and nothing is paid for.
type tracing struct {
	tracer trace.Tracer
	// requests is how many requests of a message and to an endpoint have a span.
	requests int
}

// traced traces the handling of messages, each at the place in a trace that it tells.
func traced[T any](t tracing, name string, tell func(*T) (*events.Trigger, []attribute.KeyValue),
	handle func(context.Context, T, events.Taken) error,
) func(context.Context, T, events.Taken) error {
	if t.tracer == nil {
		return handle
	}
	return func(ctx context.Context, v T, taken events.Taken) error {
		trigger, attributes := tell(&v)
		ctx, span := t.begin(ctx, name, trigger, attributes...)
		defer span.End()
		err := handle(ctx, v, taken)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return err
	}
}

// begin begins the span of the handling of a message, at its trigger's place in a
// trace. Where there is none the span does nothing.
func (t tracing) begin(ctx context.Context, name string, trigger *events.Trigger, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	if t.tracer == nil || trigger.Traceparent == "" {
		return ctx, noop.Span{}
	}
	ctx, span := t.tracer.Start(trigger.Traceparent.Under(ctx), name, trace.WithSpanKind(trace.SpanKindConsumer))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("messaging.system", "nats"), attribute.String("messaging.operation.type", "process"),
			attribute.String("gridhook.organization.id", trigger.OrganizationID))
		span.SetAttributes(attributes...)
	}
	return ctx, span
}

func tellTrigger(t *events.Trigger) (*events.Trigger, []attribute.KeyValue) {
	return t, []attribute.KeyValue{attribute.String("gridhook.trigger.id", t.ID), attribute.Int("gridhook.homes", t.Homes)}
}

func tellSlice(s *events.Slice) (*events.Trigger, []attribute.KeyValue) {
	return &s.Trigger, []attribute.KeyValue{attribute.String("gridhook.trigger.id", s.Trigger.ID), attribute.Int("gridhook.slice", s.Number)}
}

func tellRetry(r *events.Retry) (*events.Trigger, []attribute.KeyValue) {
	return &r.Trigger, []attribute.KeyValue{
		attribute.String("gridhook.trigger.id", r.Trigger.ID), attribute.Int("gridhook.slice", r.Slice), attribute.String("gridhook.endpoint.id", r.EndpointID),
		attribute.Int("gridhook.attempt", r.Attempt), attribute.Int("gridhook.homes", len(r.Homes)),
	}
}

// send makes a request, the nth from 0 of its message and to its endpoint. The partner
// is told its place in the trace, as one that is recorded where it has a span.
func (t tracing) send(ctx context.Context, s *sender, e *endpoint, id string, body payload, now func() time.Time, nth int) attempt {
	if t.tracer == nil {
		return s.send(ctx, e, id, body, "", now)
	}
	around := trace.SpanContextFromContext(ctx)
	if !around.IsSampled() || nth >= t.requests {
		return s.send(ctx, e, id, body, events.TraceparentOf(around.WithTraceFlags(around.TraceFlags().WithSampled(false))), now)
	}
	ctx, span := t.tracer.Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	a := s.send(ctx, e, id, body, events.TraceparentOf(span.SpanContext()), now)
	a.trace = span.SpanContext().TraceID()
	span.SetAttributes(a.attributes(e, id)...)
	if judge(a) != delivered {
		span.SetStatus(codes.Error, a.why())
	}
	return a
}

// attributes describe a request as the conventions for HTTP clients have it. The
// messages of a batch have its identifier together.
func (a *attempt) attributes(e *endpoint, id string) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("http.request.method", "POST"), attribute.String("server.address", e.url.Hostname()),
		attribute.String("gridhook.endpoint.id", e.ID), attribute.String("gridhook.webhook.id", id),
	}
	if a.status != 0 {
		list = append(list, attribute.Int("http.response.status_code", a.status))
	}
	if kind := classify(a); kind != "" {
		list = append(list, attribute.String("error.type", string(kind)))
	}
	return list
}

// why says why an attempt was not successful.
func (a *attempt) why() string {
	if a.err != nil {
		return a.err.Error()
	}
	return statusLine(a.status)
}
