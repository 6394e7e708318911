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

// Options say what is recorded and where it goes.
type Options struct {
	// Endpoint is the collector's URL. Where it has no path of its own, traces go
	// to /v1/traces under it.
	Endpoint string
	// Headers are those that the collector wants, and may be nil.
	Headers map[string]string
	// Sample is the share of the traces begun here that is recorded, from 0 to 1. Of
	// those that a caller began the caller decides.
	Sample float64
	// Role and Version describe the process.
	Role, Version string
	Log           *slog.Logger
}

// Tracing makes spans and sends them.
type Tracing struct {
	provider *sdk.TracerProvider
}

// Start begins to send spans. It does not wait for the collector: what cannot be sent
// is logged and lost, and holds up nothing.
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

// queued is how many spans may wait to be sent, of some 2 KB each.
const queued = 8192

// describe says whose spans they are: the standard OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES say more, or otherwise.
func describe(ctx context.Context, o Options) (*resource.Resource, error) {
	host, _ := os.Hostname() // empty where it cannot be told
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "gridhook"), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", fmt.Sprintf("%s-%d", host, os.Getpid())), attribute.String("host.name", host),
		attribute.String("gridhook.role", o.Role),
	), resource.WithFromEnv())
}

// Tracer makes the spans.
func (t *Tracing) Tracer() trace.Tracer { return t.provider.Tracer("github.com/gridhook/gridhook") }

// Stop sends what waits, for as long as ctx lasts.
func (t *Tracing) Stop(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// loud logs what cannot be sent, once a batch.
type loud struct {
	sdk.SpanExporter
	log *slog.Logger
}

// ExportSpans never fails: its caller could do no more.
func (l *loud) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := l.SpanExporter.ExportSpans(ctx, spans); err != nil {
		l.log.Warn("spans could not be sent and are lost", "spans", len(spans), "error", err)
	}
	return nil
}
