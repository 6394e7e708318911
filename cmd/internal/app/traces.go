package app

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/cmd/internal/telemetry"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events"
)

// startTelemetry sends traces, metrics and logs to the configured collectors.
func (a *App) startTelemetry(ctx context.Context) error {
	t, err := telemetry.Start(ctx, telemetry.Options{
		Endpoint: a.Traces.Endpoint, Headers: config.HeaderPairs(a.Traces.Headers), Sample: a.Traces.Sample,
		Role: string(a.Role), Version: a.Version, Metrics: a.Registry, Log: a.Log, LogLevel: a.LogLevel,
	})
	if err != nil {
		return err
	}
	a.tracer, a.Log = t.Tracer, t.Log
	a.onStop("the telemetry", func() error {
		const wait = 5 * time.Second
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		t.Stop(ctx)
		return nil
	})
	return nil
}

// triggers returns the log that accepts triggers. With tracing it records a span for each
// trigger.
func (a *App) triggers() events.TriggerLog {
	if a.tracer == nil {
		return a.conn
	}
	return tracedTriggers{a.conn, a.tracer}
}

// tracedTriggers records a span for each accepted trigger, below the span of its request
// if there is one. The span is the parent of the walk.
type tracedTriggers struct {
	events.TriggerLog
	tracer trace.Tracer
}

// Accept stores a trigger.
func (l tracedTriggers) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	ctx, span := l.tracer.Start(ctx, "accept trigger", trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attribute.String("messaging.system", "nats"), attribute.String("messaging.operation.type", "send"),
		attribute.String("gridhook.trigger.id", t.ID), attribute.String("gridhook.organization.id", t.OrganizationID),
		attribute.Int("gridhook.homes", t.Homes),
	))
	defer span.End()
	t.Traceparent = events.TraceparentOf(span.SpanContext())
	sequence, err := l.TriggerLog.Accept(ctx, t)
	if again := new(events.AlreadyAccepted); err != nil && !errors.As(err, &again) {
		span.SetStatus(codes.Error, err.Error())
	}
	return sequence, err
}
