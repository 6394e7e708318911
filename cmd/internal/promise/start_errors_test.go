package promise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A start error is one sentence that says what to do.
func TestStartErrors_OneSentence(t *testing.T) {
	t.Parallel()
	held := t.TempDir()
	start(t, "serve", held)
	nobody := freeAddress(t)
	dir := t.TempDir()
	cases := []struct {
		name string
		args []string
		says []string
		code int
	}{
		{"a wrong flag", []string{"serve", "--prot", "8080"}, []string{"--prot"}, 2},
		{"a wrong value", []string{"serve", "--data", dir, "--slices", "many"}, []string{"slices", "many"}, 2},
		{"an unreachable NATS", []string{"worker", "--data", dir, "--nats", "nats://" + nobody}, []string{nobody, "--nats"}, 1},
		{"a held data folder", []string{"serve", "--data", held, "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, []string{"in use by another gridhook", held, "--data"}, 1},
		{"no server to talk to", []string{"org", "list", "--admin-url", "http://" + nobody}, []string{nobody, "gridhook serve"}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := command(t, []string{"GRIDHOOK_OPERATOR_KEY=gho_0123456789abcdef"}, c.args...)
			wantSentence(t, out, err, c.code, c.says...)
		})
	}
}

// wantSentence checks that the output is one line with certain texts, and the exit code.
func wantSentence(t *testing.T, out string, err error, code int, says ...string) {
	t.Helper()
	failed, ok := err.(interface{ ExitCode() int })
	if !ok || failed.ExitCode() != code {
		t.Errorf("it ended with %v, want exit code %d", err, code)
	}
	var lines []string
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "{") { // the log
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 {
		t.Errorf("it prints %d lines, want one sentence:\n%s", len(lines), out)
	}
	for _, s := range says {
		if !strings.Contains(out, s) {
			t.Errorf("the sentence lacks %q:\n%s", s, out)
		}
	}
}

// An invalid tariff is refused as a whole. Of an import, only the invalid lines are
// refused.
func TestStartErrors_BadInput(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", t.TempDir())
	furnish(t, p, 3)
	dir := t.TempDir()

	broken := filepath.Join(dir, "broken.json")
	tariff := strings.Replace(string(plans()[0].URDB), `"energyweekdayschedule":[[`, `"energyweekdayschedule":[[99,`, 1)
	writeFile(t, broken, []byte(tariff))
	out, err := p.try("plan", "import", "--id", "broken", broken)
	if err == nil || !strings.Contains(out, "energyweekdayschedule[0]") {
		t.Errorf("the response to the invalid tariff is %v: %s", err, out)
	}
	if list := p.command("plan", "list"); strings.Contains(list, "broken") {
		t.Errorf("the invalid tariff was stored:\n%s", list)
	}

	lines := filepath.Join(dir, "lines.ndjson")
	writeFile(t, lines, []byte(strings.Join([]string{
		`{"resource":"home","organizationId":"acme","id":"good_1","timezone":"America/Chicago"}`,
		`{"resource":"home","organizationId":"acme","id":"bad","timezone":"America/Gotham"}`,
		`{"resource":"home","organizationId":"acme","id":"good_2","timezone":"America/Denver"`,
		`{"resource":"home","organizationId":"acme","id":"good_3","timezone":"America/Denver"}`,
	}, "\n")))
	out, err = p.try("import", lines)
	if err == nil || !strings.Contains(out, lines+":2") || !strings.Contains(out, "timezone") || !strings.Contains(out, lines+":3") {
		t.Errorf("the response to the import is %v: %s", err, out)
	}
	homes := p.command("home", "list", "--org", "acme", "--json")
	for id, want := range map[string]bool{"good_1": true, "good_3": true, `"bad"`: false, "good_2": false} {
		if strings.Contains(homes, id) != want {
			t.Errorf("home %s exists: %v, want %v", id, !want, want)
		}
	}
	if _, err := os.Stat(broken); err != nil {
		t.Error(err)
	}
}
