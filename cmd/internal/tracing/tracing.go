package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure the recording and the collector.
type Options struct {
	// Endpoint is the collector's URL. If it has no path, traces go to /v1/traces.
	Endpoint string
	// Headers are the headers that the collector requires. They may be nil.
	Headers map[string]string
	// Sample is the share of traces to record, from 0 to 1. It applies to traces that
	// begin here. If a caller began a trace, the caller decides.
	Sample float64
	// Role and Version describe the process.
	Role, Version string
	Log           *slog.Logger
}

// Tracing creates spans and sends them.
type Tracing struct {
	provider *sdk.TracerProvider
}

// Start starts sending spans. It does not wait for the collector. A span that cannot be
// sent is logged and lost, and delays nothing.
func Start(ctx context.Context, o Options) (*Tracing, error) {
	uploads, err := newUploads(o.Endpoint, o.Headers)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, uploads)
	if err != nil {
		return nil, err
	}
	described, err := describe(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return &Tracing{sdk.NewTracerProvider(
		sdk.WithBatcher(&loud{exporter, o.Log}, sdk.WithMaxQueueSize(queued), sdk.WithBatchTimeout(time.Second)),
		sdk.WithResource(described),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))),
	)}, nil
}

// queued is the maximum number of spans in the queue, of some 2 KB each.
const queued = 8192

// describe returns the resource that the spans describe. The standard variables
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES add to it or override it.
func describe(ctx context.Context, o Options) (*resource.Resource, error) {
	host, _ := os.Hostname() // empty if unknown
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "gridhook"), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", fmt.Sprintf("%s-%d", host, os.Getpid())), attribute.String("host.name", host),
		attribute.String("gridhook.role", o.Role),
	), resource.WithFromEnv())
}

// Tracer returns the tracer that creates spans.
func (t *Tracing) Tracer() trace.Tracer { return t.provider.Tracer("github.com/gridhook/gridhook") }

// Stop sends the queued spans until ctx ends.
func (t *Tracing) Stop(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// loud logs a failure to send, one time per batch.
type loud struct {
	sdk.SpanExporter
	log *slog.Logger
}

// ExportSpans never fails, because its caller cannot handle an error.
func (l *loud) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := l.SpanExporter.ExportSpans(ctx, spans); err != nil {
		l.log.Warn("spans not sent and lost", "spans", len(spans), "error", err)
	}
	return nil
}
