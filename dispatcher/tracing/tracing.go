package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/gridhook/gridhook/events"
)

// Handle returns a handler that runs handle in a span of the message's trace. describe
// returns the message's trigger and the span's attributes. Without a tracer it returns
// handle itself. A walk of a million homes has some 31,000 spans, not a million.
func Handle[T any](tracer trace.Tracer, name string, describe func(*T) (*events.Trigger, []attribute.KeyValue), handle events.Handler[T]) events.Handler[T] {
	if tracer == nil {
		return handle
	}
	return func(ctx context.Context, v T, taken events.Taken) error {
		trigger, attributes := describe(&v)
		ctx, span := Start(ctx, tracer, name, trigger, attributes...)
		defer span.End()
		err := handle(ctx, v, taken)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return err
	}
}

// Start starts the span of handling a message in its trigger's trace. Without a trace the
// span does nothing.
func Start(ctx context.Context, tracer trace.Tracer, name string, trigger *events.Trigger, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	if tracer == nil || trigger.Traceparent == "" {
		return ctx, noop.Span{}
	}
	ctx, span := tracer.Start(trigger.Traceparent.Under(ctx), name, trace.WithSpanKind(trace.SpanKindConsumer))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("messaging.system", "nats"), attribute.String("messaging.operation.type", "process"),
			attribute.String("gridhook.organization.id", trigger.OrganizationID))
		span.SetAttributes(attributes...)
	}
	return ctx, span
}

// Trigger returns a trigger and its attributes.
func Trigger(t *events.Trigger) (*events.Trigger, []attribute.KeyValue) {
	return t, []attribute.KeyValue{attribute.String("gridhook.trigger.id", t.ID), attribute.Int("gridhook.homes", t.Homes)}
}

// Slice returns a slice's trigger and attributes.
func Slice(s *events.Slice) (*events.Trigger, []attribute.KeyValue) {
	return &s.Trigger, []attribute.KeyValue{attribute.String("gridhook.trigger.id", s.Trigger.ID), attribute.Int("gridhook.slice", s.Number)}
}

// Retry returns a retry's trigger and attributes.
func Retry(r *events.Retry) (*events.Trigger, []attribute.KeyValue) {
	return &r.Trigger, []attribute.KeyValue{
		attribute.String("gridhook.trigger.id", r.Trigger.ID), attribute.Int("gridhook.slice", r.Slice), attribute.String("gridhook.endpoint.id", r.EndpointID),
		attribute.Int("gridhook.attempt", r.Attempt), attribute.Int("gridhook.homes", len(r.Homes)),
	}
}
