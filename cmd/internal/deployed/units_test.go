package deployed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnits_NoStartLimit checks that systemd never stops restarting a service. NATS may be
// down for longer than the five starts of systemd's default limit.
func TestUnits_NoStartLimit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(deploy, "systemd/*.service"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no units: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		unit, service, _ := strings.Cut(string(text), "[Service]")
		if !strings.Contains(unit, "\nStartLimitIntervalSec=0\n") || !strings.Contains(service, "\nRestart=always\n") {
			t.Errorf("%s: systemd stops restarting the service after a few starts", file)
		}
	}
}
