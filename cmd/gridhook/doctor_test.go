package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/doctor"
)

// The exit code tells scripts what the report tells people.
func TestDoctor(t *testing.T) {
	none := t.TempDir() + "/none"
	tests := []struct {
		args, environ string
		code          int
		line, says    string
	}{
		{"doctor --admin 127.0.0.1:1 --http 127.0.0.1:0 --data " + none, "", 0, "OK  ", ""},
		{"doctor --admin 127.0.0.1:1 --http 127.0.0.1:0 --allow-private-destinations --data " + none, "", exitWarnings, "WARNING  destinations", "no problem found, but some results are not ok"},
		{"doctor --slices none", "", exitFailure, "PROBLEM  settings", "see the lines with PROBLEM"},
		{"doctor --admin 127.0.0.1:1", "GRIDHOOK_NATS=nats://127.0.0.1:1", exitFailure, "PROBLEM  nats", "see the lines with PROBLEM"},
		{"doctor --role boss", "", exitUsage, "", "--role must be serve, api or worker"},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			if test.code == 0 {
				enoughFiles(t)
			}
			got := run(t, nil, "", strings.Fields(test.args), strings.Fields(test.environ)...)
			if got.code != test.code || !strings.Contains(got.err, test.says) || !holdsLine(got.out, test.line) {
				t.Errorf("exit %d, want %d\n%s%s", got.code, test.code, got.out, got.err)
			}
		})
	}
}

func holdsLine(out, begins string) bool {
	if begins == "" {
		return true
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(strings.Join(strings.Fields(line), "  ")+"  ", begins) {
			return true
		}
	}
	return false
}

// enoughFiles skips a test that needs a report without warnings if the limit of open
// files is below Gridhook's recommendation.
func enoughFiles(t *testing.T) {
	t.Helper()
	const need = 2048
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil && limit.Max < need {
		t.Skipf("the limit is %d open files, and the report has no warning from %d", limit.Max, need)
	}
}

func TestDoctor_JSON(t *testing.T) {
	got := run(t, nil, "", []string{"doctor", "--json", "--admin", "127.0.0.1:1", "--http", "127.0.0.1:0", "--data", t.TempDir() + "/none", "--allow-private-destinations"})
	var report doctor.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	if got.code != exitWarnings || report.Status != doctor.Warning || len(report.Findings) < 5 {
		t.Errorf("exit %d, %+v", got.code, report)
	}
}
