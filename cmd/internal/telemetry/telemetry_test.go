package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// collector receives all signals and lists them as lines, such as "log worker started".
type collector struct {
	t *testing.T

	mu    sync.Mutex
	lines []string
	keys  []string // values of the header x-key, one for each request
}

func (c *collector) add(r *resourcepb.Resource, kind, text string) {
	for _, a := range r.Attributes {
		if a.Key == "gridhook.role" {
			text = a.Value.GetStringValue() + " " + text
		}
	}
	c.lines = append(c.lines, kind+" "+text)
}

func (c *collector) take(key string, request proto.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, key)
	switch r := request.(type) {
	case *tracespb.ExportTraceServiceRequest:
		for _, resource := range r.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					c.add(resource.Resource, "span", span.Name)
				}
			}
		}
	case *metricspb.ExportMetricsServiceRequest:
		for _, resource := range r.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, metric := range scope.Metrics {
					c.add(resource.Resource, "metric", metric.Name)
				}
			}
		}
	case *logspb.ExportLogsServiceRequest:
		for _, resource := range r.ResourceLogs {
			for _, scope := range resource.ScopeLogs {
				for _, record := range scope.LogRecords {
					text := record.Body.GetStringValue()
					for _, a := range record.Attributes {
						text += " " + a.Key + "=" + a.Value.GetStringValue()
					}
					c.add(resource.Resource, "log", text)
				}
			}
		}
	}
}

// ServeHTTP receives OTLP over HTTP.
func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
			return
		}
		body = unpacked
	}
	data, err := io.ReadAll(body)
	request, known := map[string]proto.Message{
		"/v1/traces": &tracespb.ExportTraceServiceRequest{}, "/v1/metrics": &metricspb.ExportMetricsServiceRequest{}, "/v1/logs": &logspb.ExportLogsServiceRequest{},
	}[r.URL.Path]
	if err != nil || !known || proto.Unmarshal(data, request) != nil {
		c.t.Errorf("the collector cannot read the request to %s: %v", r.URL.Path, err)
		return
	}
	c.take(r.Header.Get("x-key"), request)
}

// The services receive OTLP over gRPC.
type (
	traces struct {
		tracespb.UnimplementedTraceServiceServer
		*collector
	}
	metrics struct {
		metricspb.UnimplementedMetricsServiceServer
		*collector
	}
	logs struct {
		logspb.UnimplementedLogsServiceServer
		*collector
	}
)

func key(ctx context.Context) string {
	header, _ := metadata.FromIncomingContext(ctx)
	return strings.Join(header.Get("x-key"), ",")
}

func (s traces) Export(ctx context.Context, r *tracespb.ExportTraceServiceRequest) (*tracespb.ExportTraceServiceResponse, error) {
	s.take(key(ctx), r)
	return &tracespb.ExportTraceServiceResponse{}, nil
}

func (s metrics) Export(ctx context.Context, r *metricspb.ExportMetricsServiceRequest) (*metricspb.ExportMetricsServiceResponse, error) {
	s.take(key(ctx), r)
	return &metricspb.ExportMetricsServiceResponse{}, nil
}

func (s logs) Export(ctx context.Context, r *logspb.ExportLogsServiceRequest) (*logspb.ExportLogsServiceResponse, error) {
	s.take(key(ctx), r)
	return &logspb.ExportLogsServiceResponse{}, nil
}

// listenHTTP and listenGRPC return a collector and its URL.
func listenHTTP(t *testing.T) (*collector, string) {
	c := &collector{t: t}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return c, s.URL
}

func listenGRPC(t *testing.T) (*collector, string) {
	c, s := &collector{t: t}, grpc.NewServer()
	tracespb.RegisterTraceServiceServer(s, traces{collector: c})
	metricspb.RegisterMetricsServiceServer(s, metrics{collector: c})
	logspb.RegisterLogsServiceServer(s, logs{collector: c})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return c, "http://" + l.Addr().String()
}

// produce starts telemetry, produces each signal once, stops, and returns the process's
// own log.
func produce(t *testing.T, o Options) (own string) {
	t.Helper()
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "gridhook_tests_total"})
	registry.MustRegister(counter)
	counter.Inc()
	o.Role, o.Sample, o.Metrics = "worker", 1, registry
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: o.LogLevel}))
	running, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if running.Tracer != nil {
		_, span := running.Tracer.Start(t.Context(), "walk slice")
		span.End()
	}
	running.Log.Debug("tick")
	running.Log.With("queue", "walkers").Info("started", "error", io.EOF)
	running.Stop(t.Context())
	return log.String()
}

const (
	spanLine   = "span worker walk slice"
	metricLine = "metric worker gridhook_tests_total"
	logLine    = "log worker started queue=walkers exception.message=EOF exception.type=*errors.errorString"
)

func TestStart_Signals(t *testing.T) {
	tests := map[string]struct {
		listen func(*testing.T) (*collector, string)
		// env has URL for the collector's URL.
		env  map[string]string
		want []string
	}{
		"all over HTTP":       {listenHTTP, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL"}, []string{logLine, metricLine, spanLine}},
		"all over gRPC":       {listenGRPC, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, []string{logLine, metricLine, spanLine}},
		"one off":             {listenHTTP, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_LOGS_EXPORTER": "none"}, []string{metricLine, spanLine}},
		"one alone over gRPC": {listenGRPC, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "URL", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc"}, []string{metricLine}},
		"one by its exporter": {listenHTTP, map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "URL/v1/logs", "OTEL_LOGS_EXPORTER": "otlp"}, []string{logLine}},
		"disabled":            {listenHTTP, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_SDK_DISABLED": "true"}, nil},
		"no collector":        {listenHTTP, nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, url := test.listen(t)
			for variable, value := range test.env {
				t.Setenv(variable, strings.ReplaceAll(value, "URL", url))
			}
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
			own := produce(t, Options{})
			if strings.Count(own, "\n") != 1 || !strings.Contains(own, "msg=started queue=walkers error=EOF") {
				t.Errorf("the process's own log is %s", own)
			}
			slices.Sort(c.lines)
			if !slices.Equal(c.lines, test.want) {
				t.Errorf("the collector got %q, want %q", c.lines, test.want)
			}
			if slices.ContainsFunc(c.keys, func(key string) bool { return key != "secret" }) {
				t.Errorf("the requests have the header %q", c.keys)
			}
		})
	}
}

// TestStart_TraceEndpoint checks that the setting of traces has precedence over the
// variables, and that debug records are sent if they are logged.
func TestStart_TraceEndpoint(t *testing.T) {
	ofTraces, tracesURL := listenHTTP(t)
	others, url := listenHTTP(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	produce(t, Options{Endpoint: tracesURL, Headers: map[string]string{"x-key": "of traces"}, LogLevel: slog.LevelDebug})
	if !slices.Equal(ofTraces.lines, []string{spanLine}) || !slices.Equal(ofTraces.keys, []string{"of traces"}) {
		t.Errorf("the collector of traces got %q with %q", ofTraces.lines, ofTraces.keys)
	}
	slices.Sort(others.lines)
	if want := []string{logLine, "log worker tick", metricLine}; !slices.Equal(others.lines, want) {
		t.Errorf("the other collector got %q, want %q", others.lines, want)
	}
}

// A collector that refuses costs a warning in the process's own log. The log does not
// have the key of the collector.
func TestStart_CollectorRefuses(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
	own := produce(t, Options{})
	if !strings.Contains(own, "telemetry not sent and lost") || strings.Contains(own, "secret") {
		t.Errorf("the process's own log is %s", own)
	}
}

func TestStart_WrongVariables(t *testing.T) {
	tests := []struct{ name, value, says string }{
		{"OTEL_METRICS_EXPORTER", "prometheus", `OTEL_METRICS_EXPORTER must be otlp or none, not "prometheus"`},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", `OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or grpc, not "http/json"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(test.name, test.value)
			t.Setenv("OTEL_TRACES_EXPORTER", "none")
			if _, err := Start(t.Context(), Options{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
