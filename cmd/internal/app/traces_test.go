package app_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/app"
)

// TestTelemetry_CollectorDown checks that a stop succeeds while the collector is down. The
// process logs that telemetry is lost, and nothing about metrics of files that it has closed.
func TestTelemetry_CollectorDown(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	var log bytes.Buffer
	a, err := app.Start(t.Context(), app.Local(t.TempDir(), slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Stop(); err != nil {
		t.Errorf("the stop failed: %v", err)
	}
	if !strings.Contains(log.String(), "telemetry not sent and lost") || strings.Contains(log.String(), "metrics incomplete") {
		t.Errorf("the log is\n%s", log.String())
	}
}
