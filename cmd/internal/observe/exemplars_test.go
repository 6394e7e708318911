package observe

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gridhook/gridhook/api/client"
)

// A real Prometheus reads the histograms as native ones, with exemplars of traces.
func TestPrometheus_Exemplars(t *testing.T) {
	tool(t, "prometheus")
	t.Parallel()
	c := newCollector(t, "", "")
	w := newWorld(t, start(t, "serve", t.TempDir(), "--trace-endpoint", c.url))
	w.organization("acme", 3, answering(t, 204))
	config := fmt.Sprintf(`
global: {scrape_interval: %s}
scrape_configs:
  - job_name: gridhook
    static_configs: [{targets: ['%s']}]
`, scrapeEvery, metricsAddress(w.main))
	const native = "    scrape_native_histograms: true\n"
	if understands(t, config+native) { // since 3.8; before, it needed the feature flag
		config += native
	}
	p := running(t, config, nil, "--enable-feature=exemplar-storage,native-histograms")
	done, err := traced(w.operator.For("acme"), "00-"+callersTrace+"-"+callersSpan+"-01").Trigger(t.Context(), client.TriggerRequest{})
	w.must(err)
	w.completed(done.TriggerID)
	// Some versions of Prometheus store one exemplar of a histogram. Every request to the API
	// has a trace, and the requests of the preparation share the histogram.
	const anyTrace = ""
	for histogram, trace := range map[string]string{"gridhook_http_request_duration_seconds": anyTrace, "gridhook_attempt_duration_seconds": callersTrace} {
		if !p.awaits(`histogram_count(` + histogram + `) > 0`) {
			t.Errorf("%s is not a native histogram", histogram)
		}
		if !eventually(t, func() bool { return p.exemplar(histogram, trace) }) {
			t.Errorf("%s has no exemplar of the trace %q", histogram, trace)
		}
	}
}

// understands reports whether this Prometheus accepts a configuration.
func understands(t *testing.T, config string) bool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	write(t, file, config)
	return exec.CommandContext(t.Context(), tool(t, "promtool"), "check", "config", file).Run() == nil
}

// exemplar reports whether a metric has an exemplar of a trace, or of any trace if it is
// empty.
func (p *prometheus) exemplar(metric, trace string) bool {
	p.t.Helper()
	body, err := p.get(p.t.Context(), "/api/v1/query_exemplars?start=0&end=99999999999&query="+url.QueryEscape(metric))
	if err != nil {
		p.t.Fatal(err)
	}
	var answer struct {
		Status string
		Data   []struct {
			Exemplars []struct{ Labels map[string]string }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		p.t.Fatalf("%s: %v", body, err)
	}
	for _, series := range answer.Data {
		for _, e := range series.Exemplars {
			if id := e.Labels["trace_id"]; id == trace || trace == "" && id != "" {
				return true
			}
		}
	}
	return false
}
