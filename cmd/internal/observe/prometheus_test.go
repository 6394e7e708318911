package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// patience bounds every wait. The longest is for a source, which is late after two minutes
// and asked again after at most four more.
const patience = 10 * time.Minute

// tool is the path of prometheus or promtool, which are installed together.
func tool(t *testing.T, name string) string {
	t.Helper()
	named := os.Getenv("GRIDHOOK_PROMETHEUS")
	if named == "" {
		t.Skip("GRIDHOOK_PROMETHEUS does not name a Prometheus: .ci/prometheus installs one and runs this test")
	}
	path := filepath.Join(filepath.Dir(named), name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("GRIDHOOK_PROMETHEUS is %s, and there is no %s beside it: %v", named, name, err)
	}
	return path
}

// prometheus is a running Prometheus.
type prometheus struct {
	t   *testing.T
	url string
}

// scraping starts a Prometheus with some rules. It scrapes targets by a name at an
// interval.
func scraping(t *testing.T, every time.Duration, rules map[string]string, targets ...string) *prometheus {
	t.Helper()
	return running(t, fmt.Sprintf(`
global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}
rule_files: ['*.rules']
scrape_configs:
  - job_name: gridhook
    static_configs:
      - targets: ['%[2]s']
`, every, strings.Join(targets, "', '")), rules)
}

// running starts a Prometheus with a configuration.
func running(t *testing.T, config string, rules map[string]string, args ...string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	for name, text := range rules {
		write(t, filepath.Join(dir, name), text)
	}
	file := filepath.Join(dir, "prometheus.yml")
	write(t, file, config)
	address, err := blackbox.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	log := &blackboxtest.Tail{}
	process, err := blackbox.Start(blackbox.Spec{
		Binary: tool(t, "prometheus"), Log: log, Patience: patience,
		Args:  append(args, "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address),
		Ready: func(line string) bool { return strings.Contains(line, "Server is ready to receive web requests") },
	})
	if err != nil {
		t.Fatalf("prometheus: %v\n%s", err, log.Last(4000))
	}
	t.Cleanup(process.Kill)
	return &prometheus{t: t, url: "http://" + address}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sample is one value of an instant query.
type sample struct {
	labels map[string]string
	value  float64
}

// query returns the current values of an expression.
func (p *prometheus) query(expr string) ([]sample, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	body, err := p.get(ctx, "/api/v1/query?query="+url.QueryEscape(expr))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s %w", expr, body, err)
	}
	var list []sample
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		if !math.IsNaN(value) {
			list = append(list, sample{r.Metric, value})
		}
	}
	return list, nil
}

// get returns Prometheus' response at a path.
func (p *prometheus) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// awaits waits until an expression has a value, and reports whether it does.
func (p *prometheus) awaits(expr string) bool {
	p.t.Helper()
	return p.awaitsFor(patience, expr)
}

// awaitsFor is awaits for another time.
func (p *prometheus) awaitsFor(limit time.Duration, expr string) bool {
	p.t.Helper()
	return within(p.t, limit, func() bool {
		found, err := p.query(expr)
		if err != nil {
			p.t.Fatal(err)
		}
		return len(found) > 0
	})
}

// eventually repeats a check until it succeeds or patience has passed.
func eventually(t *testing.T, ask func() bool) bool {
	t.Helper()
	return within(t, patience, ask)
}

// within repeats a check until it succeeds or the limit has passed.
func within(t *testing.T, limit time.Duration, ask func() bool) bool {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for !ask() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
