package promise

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// startIn starts a nats-server with its files in a folder, at an address.
func startIn(t *testing.T, n *blackbox.NATS) *blackbox.Process {
	t.Helper()
	server, err := n.Start()
	must(t, err)
	t.Cleanup(server.Kill)
	return server
}

// poll calls done until it returns true.
func poll(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, sandbox.Poll(ctx, 50*time.Millisecond, func() (bool, error) { return done(), nil }))
}

// readiness returns what a process says about its readiness.
func readiness(t *testing.T, p *process) (status int, text string) {
	t.Helper()
	response, err := http.Get(p.admin + "/readyz")
	must(t, err)
	body, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(body)
}

// A process whose NATS has only older files accepts no write and no trigger: its replica
// would skip the new records. Its next start says what to do.
func TestOlderFiles_NothingAccepted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, copied := filepath.Join(dir, "nats"), filepath.Join(dir, "copied")
	config := &blackbox.NATS{Binary: binaries.NATS, Dir: files, Address: freeAddress(t), Patience: patience, Log: io.Discard}
	server := startIn(t, config)
	url, data := "nats://"+config.Address, t.TempDir()
	api := start(t, "api", data, "--nats", url)
	api.command("org", "create", "--id", "early", "--name", "Early")
	must(t, server.Stop(patience))
	must(t, os.CopyFS(copied, os.DirFS(files)))
	server = startIn(t, config)
	poll(t, func() bool { _, err := api.try("org", "update", "early", "--name", "Later"); return err == nil })
	must(t, server.Stop(patience))
	must(t, os.RemoveAll(files))
	must(t, os.Rename(copied, files))
	startIn(t, config)

	poll(t, func() bool {
		if out, err := api.try("org", "create", "--id", "late", "--name", "Late"); err == nil {
			t.Fatalf("the process accepts a write:\n%s", out)
		}
		_, why := readiness(t, api)
		return strings.Contains(why, "ends at")
	})
	if out, err := api.try("trigger", "--org", "early"); err == nil || !strings.Contains(out, "Nothing was stored") {
		t.Errorf("the response to a trigger is %v:\n%s", err, out)
	}
	api.stop()
	out, err := command(t, nil, "api", "--data", data, "--nats", url, "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err == nil || !strings.Contains(out, "restore the log, or delete") {
		t.Errorf("the next start ends with %v:\n%s", err, out)
	}
}
