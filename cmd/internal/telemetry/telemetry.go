package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure the signals and the collector.
type Options struct {
	// Endpoint is the collector's URL for traces. If it has no path, traces go to
	// /v1/traces. It may be empty: the standard variables name a collector for each signal.
	Endpoint string
	// Headers are the headers that the collector at Endpoint requires. They may be nil.
	Headers map[string]string
	// Sample is the share of traces to record, from 0 to 1. It applies to traces that
	// begin here. If a caller began a trace, the caller decides.
	Sample float64
	// Role and Version describe the process.
	Role, Version string
	// Metrics has the metrics to send.
	Metrics prometheus.Gatherer
	// Log is the process's logger. LogLevel is the lowest level to send.
	Log      *slog.Logger
	LogLevel slog.Level
}

// Telemetry sends the signals that have a collector.
type Telemetry struct {
	// Tracer creates spans. It is nil without a collector of traces.
	Tracer trace.Tracer
	// Log writes to the process's logger, and to the collector of logs if there is one.
	Log   *slog.Logger
	stops []func(context.Context) error
}

const scope = "github.com/gridhook/gridhook"

// Start starts sending. It does not wait for a collector. If telemetry cannot be sent,
// it is lost and the process logs a warning.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{Log: o.Log}
	described, err := describe(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	for _, start := range []func(context.Context, Options, *resource.Resource) error{t.startTraces, t.startMetrics, t.startLogs} {
		if err := start(ctx, o, described); err != nil {
			t.Stop(ctx)
			return nil, err
		}
	}
	if len(t.stops) > 0 {
		// The logger of the process alone: a warning about logs must not be sent with them.
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
			o.Log.Warn("telemetry not sent and lost", "error", err)
		}))
	}
	return t, nil
}

// Stop sends the queued telemetry until ctx ends. It logs failures to send.
func (t *Telemetry) Stop(ctx context.Context) {
	for _, stop := range t.stops {
		if err := stop(ctx); err != nil {
			otel.Handle(err)
		}
	}
}

// queued is the maximum number of spans in the queue, of some 2 KB each.
const queued = 8192

func (t *Telemetry) startTraces(ctx context.Context, o Options, described *resource.Resource) error {
	exporter, err := newSpanExporter(ctx, o)
	if exporter == nil || err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithMaxQueueSize(queued), sdktrace.WithBatchTimeout(time.Second)),
		sdktrace.WithResource(described),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Sample))),
	)
	t.Tracer = provider.Tracer(scope)
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

// startMetrics sends the metrics of the registry at the interval that
// OTEL_METRIC_EXPORT_INTERVAL gives in milliseconds, by default each minute.
func (t *Telemetry) startMetrics(ctx context.Context, o Options, described *resource.Resource) error {
	exporter, err := newMetricExporter(ctx)
	if exporter == nil || err != nil {
		return err
	}
	registered := metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(o.Metrics)))
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(exporter, registered)), metric.WithResource(described))
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

func (t *Telemetry) startLogs(ctx context.Context, o Options, described *resource.Resource) error {
	exporter, err := newLogExporter(ctx)
	if exporter == nil || err != nil {
		return err
	}
	processor := leveled{sdklog.NewBatchProcessor(exporter), log.SeverityInfo + log.Severity(o.LogLevel)}
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(processor), sdklog.WithResource(described))
	t.Log = slog.New(slog.NewMultiHandler(o.Log.Handler(), otelslog.NewHandler(scope, otelslog.WithLoggerProvider(provider))))
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

// leveled drops records below a severity.
type leveled struct {
	sdklog.Processor
	least log.Severity
}

// Enabled reports whether records of a severity are sent.
func (l leveled) Enabled(_ context.Context, p sdklog.EnabledParameters) bool {
	return p.Severity >= l.least
}

// describe returns the resource that the signals describe. The standard variables
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES add to it or override it.
func describe(ctx context.Context, o Options) (*resource.Resource, error) {
	host, _ := os.Hostname() // empty if unknown
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "gridhook"), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", fmt.Sprintf("%s-%d", host, os.Getpid())), attribute.String("host.name", host),
		attribute.String("gridhook.role", o.Role),
	), resource.WithFromEnv())
}
