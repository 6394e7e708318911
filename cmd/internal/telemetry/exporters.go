package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// protocol is how a signal reaches its collector.
type protocol string

const (
	off      protocol = ""
	overHTTP protocol = "http/protobuf"
	overGRPC protocol = "grpc"
)

// protocolOf returns the protocol of a signal, such as METRICS, from the standard
// variables. The exporters read the other variables. By the standard, a signal without
// variables goes to a collector on this machine. Here it is off.
func protocolOf(signal string) (protocol, error) {
	of := func(name string) string {
		return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	switch name := "OTEL_" + signal + "_EXPORTER"; os.Getenv(name) {
	case "":
		if of("ENDPOINT") == "" {
			return off, nil
		}
	case "none":
		return off, nil
	case "otlp":
	default:
		return off, fmt.Errorf("%s must be otlp or none, not %q", name, os.Getenv(name))
	}
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return off, nil
	}
	switch p := cmp.Or(protocol(of("PROTOCOL")), overHTTP); p {
	case overHTTP, overGRPC:
		return p, nil
	default:
		return off, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL must be %s or %s, not %q", overHTTP, overGRPC, p)
	}
}

// Check returns an error if the standard variables would make Start fail. endpoint is
// Options.Endpoint.
func Check(endpoint string) error {
	var errs []error
	for _, signal := range []string{"TRACES", "METRICS", "LOGS"} {
		if signal == "TRACES" && endpoint != "" {
			continue // the endpoint has precedence over the variables
		}
		_, err := protocolOf(signal)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// tracesPath is a collector's path for traces (OTLP 1.x, section "OTLP/HTTP Request").
const tracesPath = "/v1/traces"

// newSpanExporter returns nil without a collector of traces.
func newSpanExporter(ctx context.Context, o Options) (sdktrace.SpanExporter, error) {
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("the collector's URL: %w", err)
		}
		if !strings.HasSuffix(u.Path, tracesPath) {
			u = u.JoinPath(tracesPath)
		}
		return otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()), otlptracehttp.WithHeaders(o.Headers),
			otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	}
	p, err := protocolOf("TRACES")
	switch p {
	case overHTTP:
		return otlptracehttp.New(ctx)
	case overGRPC:
		return otlptracegrpc.New(ctx)
	}
	return nil, err
}

// newMetricExporter returns nil without a collector of metrics.
func newMetricExporter(ctx context.Context) (metric.Exporter, error) {
	p, err := protocolOf("METRICS")
	switch p {
	case overHTTP:
		return otlpmetrichttp.New(ctx)
	case overGRPC:
		return otlpmetricgrpc.New(ctx)
	}
	return nil, err
}

// newLogExporter returns nil without a collector of logs.
func newLogExporter(ctx context.Context) (sdklog.Exporter, error) {
	p, err := protocolOf("LOGS")
	switch p {
	case overHTTP:
		return otlploghttp.New(ctx)
	case overGRPC:
		return otlploggrpc.New(ctx)
	}
	return nil, err
}
