package deployed

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// TestCluster_Restore restores a backup of one process with an embedded NATS into a fleet
// on three servers. A trigger whose homes wait for their receiver is delivered there,
// every stream has three copies, and one server can fail.
func TestCluster_Restore(t *testing.T) {
	t.Parallel()
	b := build(t)
	alone := startWith(t, b, "serve")
	r := receive(t)
	acme := furnish(t, alone, r.url)
	deliver(t, acme)
	r.closed.Store(true)
	waiting := trigger(t, acme)
	eventually(t, "every home waits for a retry", func(ctx context.Context) (bool, error) {
		p, err := acme.GetTrigger(ctx, waiting)
		return err == nil && p.Walked == homes && p.Outcomes[events.OutcomeRetrying] == homes, err
	})
	file, identity := filepath.Join(t.TempDir(), "gridhook.backup"), filepath.Join(t.TempDir(), "backup.key")
	recipient := strings.TrimSpace(command(t, b.Gridhook, "backup", "keygen", identity))
	command(t, b.Gridhook, "backup", file, "--recipient", recipient, "--admin-url", alone.Admin, "--data", alone.Data)
	alone.Kill()
	before := r.taken.Load()

	servers, url := natsCluster(t, b.NATS, composeNATS(t))
	command(t, b.Gridhook, "restore", file, "--identity", identity, "--nats", url, "--nats-replicas", "3")
	threeCopies(t, url)
	r.closed.Store(false)
	api := startWith(t, b, "api", "GRIDHOOK_NATS="+url)
	startWith(t, b, "worker", "GRIDHOOK_NATS="+url)
	threeCopies(t, url) // a process without nats-replicas removes none
	key, err := os.ReadFile(filepath.Join(api.Data, "operator.key"))
	must(t, err)
	acme = (&client.Client{BaseURL: api.Admin, Key: strings.TrimSpace(string(key))}).For("acme")
	delivered(t, acme, waiting)
	if n := r.taken.Load() - before; n < homes {
		t.Errorf("%d of %d waiting homes arrived", n, homes)
	}
	servers[0].Kill()
	deliver(t, acme)
}

// TestCluster_ReplicasRaised starts a fleet with one copy of each stream, and goes on with
// three. A process without settings of the streams changes none of them.
func TestCluster_ReplicasRaised(t *testing.T) {
	t.Parallel()
	b := build(t)
	_, url := natsCluster(t, b.NATS, composeNATS(t))
	api := startWith(t, b, "api", "GRIDHOOK_NATS="+url, "GRIDHOOK_RECEIPTS_AGE=1000h")
	worker := startWith(t, b, "worker", "GRIDHOOK_NATS="+url)
	acme := furnish(t, api, receive(t).url)
	deliver(t, acme)
	other := start(t, b, "worker", url)
	threeCopies(t, url)
	deliver(t, acme)
	other.Kill()
	deliver(t, acme) // the other worker goes on with the new streams
	worker.Kill()
	startWith(t, b, "worker", "GRIDHOOK_NATS="+url)
	threeCopies(t, url)
	js := connect(t, url)
	receipts, err := js.Stream(t.Context(), "GRIDHOOK_RECEIPTS")
	must(t, err)
	if kept := receipts.CachedInfo().Config.MaxAge; kept != 1000*time.Hour {
		t.Errorf("receipts are stored for %s after the start of a process without receipts-age, want 1000h", kept)
	}
}

// command runs a subcommand that must succeed, and returns its output.
func command(t *testing.T, binary string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("gridhook %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// threeCopies waits until every stream has three current copies.
func threeCopies(t *testing.T, url string) {
	t.Helper()
	js := connect(t, url)
	eventually(t, "three copies of every stream", func(ctx context.Context) (bool, error) {
		streams, whole := 0, 0
		list := js.ListStreams(ctx)
		for info := range list.Info() {
			streams++
			current := 0
			if info.Cluster != nil && info.Cluster.Leader != "" {
				current++
				for _, peer := range info.Cluster.Replicas {
					if peer.Current {
						current++
					}
				}
			}
			if info.Config.Replicas == 3 && current == 3 {
				whole++
			}
		}
		return streams > 5 && whole == streams, list.Err()
	})
}
