package promise

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keygen creates a backup key, and returns its file and its public half.
func keygen(t *testing.T) (file, recipient string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "backup.key")
	out, err := command(t, nil, "backup", "keygen", file)
	if err != nil {
		t.Fatal(out)
	}
	return file, strings.TrimSpace(out)
}

// answered returns how many requests a receiver has accepted with a response.
func (r *receiver) answered() (n int) {
	for _, list := range r.arrivals() {
		for _, a := range list {
			if a.status < 300 {
				n++
			}
		}
	}
	return n
}

// flaky refuses the first request of every fifth home, so that there are retries.
func flaky(home, _ string, n int) int {
	if n == 1 && strings.HasSuffix(home, "0") || strings.HasSuffix(home, "5") && n == 1 {
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// underWay is a partner with running triggers.
func underWay(t *testing.T, p *process, homes int) (*partner, *receiver, []string) {
	t.Helper()
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	r.answer = flaky
	acme.register(r, map[string]any{"initialSeconds": 1, "multiplier": 2, "maxSeconds": 2, "giveUpSeconds": 600})
	return acme, r, []string{acme.trigger(hour())}
}

// slots is the maximum number of homes in flight at a kill: one slice, and 8 slow ones
// that gave their slots up.
const slots = (1 + 8) * 64

// walked is the number of requests before a backup. The receiver accepts four of five. So a
// repetition of the whole walk exceeds the allowed number of repetitions.
const walked = 2 * slots * 7 / 5

// A backup is made during a walk, and the process is killed soon after. After a restore
// elsewhere every home is delivered. Only deliveries in flight or later than the backup
// are repeated.
func TestBackup_RestoreElsewhere(t *testing.T) {
	t.Parallel()
	const homes = 2000
	key, recipient := keygen(t)
	p := start(t, "serve", t.TempDir(), "--slices", "1")
	acme, r, triggers := underWay(t, p, homes)
	r.wait("some of the walk", func() bool { return r.total > walked })
	before := r.answered()
	file := filepath.Join(t.TempDir(), "gridhook.backup")
	p.command("backup", file, "--recipient", recipient)
	p.kill()
	after := r.answered()

	data := filepath.Join(t.TempDir(), "elsewhere")
	if out, err := command(t, nil, "restore", file, "--identity", key, "--data", data); err != nil {
		t.Fatal(out)
	}
	p = start(t, "serve", data, "--slices", "1")
	acme.api = p.api
	for _, trigger := range triggers {
		acme.delivered(trigger, homes)
	}
	repeats, allowed := r.check(homes), r.answered()-homes
	t.Logf("%d delivered at the start of the backup, %d at its end; %d repeated", before, after, repeats)
	if repeats > after-before+2*slots {
		t.Errorf("%d deliveries were repeated of %d, more than %d during the backup and %d in flight", repeats, allowed, after-before, 2*slots)
	}
	// The service continues there: the next trigger is newer than all earlier ones.
	acme.delivered(acme.trigger(hour()), homes)
}

// This is the same test with an external NATS and a restore into another one.
func TestBackup_FleetToOtherNATS(t *testing.T) {
	t.Parallel()
	const homes = 2000
	key, recipient := keygen(t)
	old := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", old)
	worker := start(t, "worker", t.TempDir(), "--nats", old, "--slices", "1")
	acme, r, triggers := underWay(t, api, homes)
	r.wait("some of the walk", func() bool { return r.total > walked })
	before := r.answered()
	file := filepath.Join(t.TempDir(), "gridhook.backup")
	api.command("backup", file, "--recipient", recipient)
	worker.kill()
	api.kill()
	after := r.answered()

	other := nats(t)
	if out, err := command(t, nil, "restore", file, "--identity", key, "--nats", other); err != nil {
		t.Fatal(out)
	}
	if out, err := command(t, nil, "restore", file, "--identity", key, "--nats", other); err == nil || !strings.Contains(out, "the streams of Gridhook already exist") {
		t.Errorf("a second restore: %v %s", err, out)
	}
	if out, err := command(t, nil, "restore", file, "--identity", key, "--nats", other, "--replace"); err != nil {
		t.Errorf("a restore over the first NATS: %v %s", err, out)
	}
	// The api's folder has replicas of the old log. It rebuilds them.
	api = start(t, "api", api.data, "--nats", other)
	start(t, "worker", t.TempDir(), "--nats", other)
	acme.api = api.api
	acme.delivered(triggers[0], homes)
	repeats := r.check(homes)
	t.Logf("%d delivered at the start of the backup, %d at its end; %d repeated", before, after, repeats)
	if repeats > after-before+2*slots {
		t.Errorf("%d deliveries were repeated", repeats)
	}
}

// An invalid restore fails with one sentence, and changes nothing.
func TestBackup_Invalid(t *testing.T) {
	t.Parallel()
	key, recipient := keygen(t)
	other, _ := keygen(t)
	data := t.TempDir()
	p := start(t, "serve", data)
	furnish(t, p, 10)
	dir := t.TempDir()
	file := filepath.Join(dir, "whole")
	p.command("backup", file, "--recipient", recipient)
	if out, err := p.try("backup", file, "--recipient", recipient); err == nil || !strings.Contains(out, "exists already") {
		t.Errorf("over an existing backup: %v %s", err, out)
	}
	if out, err := p.try("backup", filepath.Join(dir, "clear")); err == nil || !strings.Contains(out, "a backup is encrypted") {
		t.Errorf("without a recipient: %v %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "short"), text[:len(text)-100])
	flipped := append([]byte{}, text...)
	flipped[len(flipped)/2] ^= 1
	writeFile(t, filepath.Join(dir, "flipped"), flipped)
	writeFile(t, filepath.Join(dir, "other"), []byte("nothing of ours"))
	for _, test := range []struct{ file, key, says string }{
		{"short", key, "the backup cannot be read"},
		{"flipped", key, "the backup cannot be read"},
		{"other", key, "the backup cannot be read"},
		{"whole", other, "it is encrypted for another key"},
		{"whole", filepath.Join(dir, "short"), "the backup's key was not made"},
		{"none", key, "no such file"},
	} {
		fresh := filepath.Join(t.TempDir(), "data")
		out, err := command(t, nil, "restore", filepath.Join(dir, test.file), "--identity", test.key, "--data", fresh)
		if err == nil || !strings.Contains(out, test.says) || strings.Count(strings.TrimSpace(out), "\n") != 0 {
			t.Errorf("%s: %v %s", test.file, err, out)
		}
		if _, err := os.Stat(fresh); err == nil {
			t.Errorf("%s: it created the folder", test.file)
		}
	}
	if out, err := command(t, nil, "restore", file, "--identity", key, "--data", data); err == nil || !strings.Contains(out, "in use by another gridhook") {
		t.Errorf("while the process runs: %v %s", err, out)
	}
	p.stop()
	if out, err := command(t, nil, "restore", file, "--identity", key, "--data", data); err == nil || !strings.Contains(out, "already exist in "+data+": --replace deletes them") {
		t.Errorf("over another folder: %v %s", err, out)
	}
	if out, err := command(t, nil, "restore", file, "--identity", key, "--data", data, "--replace"); err != nil {
		t.Errorf("over another NATS: %v %s", err, out)
	}
	start(t, "serve", data).command("home", "get", "home_000003", "--org", organization)
}
