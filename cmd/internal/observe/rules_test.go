package observe

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// deploy is the folder of the files for operators.
const deploy = "../../../deploy"

// rules returns the shipped rule files by name, ending in .rules.
func rules(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(deploy, "prometheus/rules/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	texts := map[string]string{}
	for _, file := range files {
		texts[filepath.Base(file)+".rules"] = read(t, file)
	}
	return texts
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRules_Promtool runs the checks and the unit tests of the rules.
func TestRules_Promtool(t *testing.T) {
	promtool := tool(t, "promtool")
	dir := filepath.Join(deploy, "prometheus")
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "rules/recording.yml", "rules/alerts.yml"},
		{"test", "rules", "tests/alerts_test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// startSecure starts serve with TLS, which has a metric of its own.
func startSecure(t *testing.T) *blackbox.Gridhook {
	t.Helper()
	data := t.TempDir()
	certificate, key := filepath.Join(data, "cert.pem"), filepath.Join(data, "key.pem")
	text, private := blackboxtest.Issue(t, &x509.Certificate{NotAfter: time.Now().Add(time.Hour)})
	if err := errors.Join(os.WriteFile(certificate, text, 0o600), os.WriteFile(key, private, 0o600)); err != nil {
		t.Fatal(err)
	}
	return start(t, "serve", data, "--tls-cert", certificate, "--tls-key", key)
}

// TestMetrics_Exist checks that a process exports every metric in the rules and the
// dashboard.
func TestMetrics_Exist(t *testing.T) {
	told := scrape(t, startSecure(t).Admin+"/metrics")
	texts := rules(t)
	texts["the dashboard"] = read(t, dashboardFile)
	name := regexp.MustCompile(`\b(?:gridhook|process|go)_[a-z_]+[a-z]\b`)
	for file, text := range texts {
		names := name.FindAllString(text, -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		slices.Sort(names)
		for _, n := range slices.Compact(names) {
			if !strings.Contains(told, "\n"+n+" ") && !strings.Contains(told, "\n"+n+"{") {
				t.Errorf("%s names %s, which no process exports", file, n)
			}
		}
	}
}

// TestMetrics_Documented checks that the operator's guide has every metric.
func TestMetrics_Documented(t *testing.T) {
	guide := read(t, "../../../docs/operator-guide.md")
	told := scrape(t, startSecure(t).Admin+"/metrics")
	families := regexp.MustCompile(`(?m)^# TYPE (gridhook_\w+) `).FindAllStringSubmatch(told, -1)
	if len(families) == 0 {
		t.Fatal("no metrics")
	}
	for _, f := range families {
		if !strings.Contains(guide, "`"+f[1]+"`") && !strings.Contains(guide, "`"+f[1]+"{") {
			t.Errorf("the operator's guide does not explain %s", f[1])
		}
	}
}

// scrape returns a page of metrics, in a format or the default one.
func scrape(t *testing.T, url string, accept ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header["Accept"] = accept
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, response.StatusCode, err)
	}
	return string(body)
}

var (
	alertName = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)
	runbook   = regexp.MustCompile(`(?m)^ +runbook_url: https://github\.com/gridhook/gridhook/blob/main/(\S+)#(\S+)$`)
)

// alerts returns the names of the shipped alerts.
func alerts(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range alertName.FindAllStringSubmatch(rules(t)["alerts.yml.rules"], -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		t.Fatal("there are no alerts")
	}
	return names
}

// TestAlerts_Runbooks checks that each alert has a runbook under its name, a link in the
// index of its page, and a unit test.
func TestAlerts_Runbooks(t *testing.T) {
	names := alerts(t)
	books := runbook.FindAllStringSubmatch(rules(t)["alerts.yml.rules"], -1)
	if len(books) != len(names) {
		t.Fatalf("%d alerts have %d runbooks", len(names), len(books))
	}
	tests := read(t, filepath.Join(deploy, "prometheus/tests/alerts_test.yml"))
	for i, name := range names {
		page := read(t, filepath.Join("../../..", books[i][1]))
		if books[i][2] != strings.ToLower(name) || !strings.Contains(page, "\n## "+name+"\n") {
			t.Errorf("%s has no runbook in %s", name, books[i][1])
		}
		index, _, _ := strings.Cut(page, "\n## ")
		if !strings.Contains(index, "](#"+books[i][2]+")") {
			t.Errorf("the index of %s does not link to %s", books[i][1], name)
		}
		if !strings.Contains(tests, "{severity: ") || !regexp.MustCompile(`alertname: `+name+`\n +exp_alerts:\n`).MatchString(tests) {
			t.Errorf("%s fires in no unit test", name)
		}
	}
}
