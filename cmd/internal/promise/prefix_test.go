package promise

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// installation is an api and a worker with a prefix, on a NATS that others use.
type installation struct {
	*partner
	flags    []string
	api      *process
	worker   *process
	receiver *receiver
	// arrived is the number of requests that belong to the installation's own triggers.
	arrived int
}

// install starts an installation with the same identifiers as every other.
func install(t *testing.T, homes int, flags ...string) *installation {
	t.Helper()
	in := &installation{flags: flags}
	in.start(t)
	in.partner = furnish(t, in.api, homes)
	in.receiver = newReceiver(t)
	in.register(in.receiver, map[string]any{"initialSeconds": 1, "multiplier": 1, "maxSeconds": 1, "giveUpSeconds": 600})
	return in
}

func (in *installation) start(t *testing.T) {
	t.Helper()
	in.api = start(t, "api", t.TempDir(), in.flags...)
	in.worker = start(t, "worker", t.TempDir(), in.flags...)
	if in.partner != nil {
		in.partner.api = in.api.api
	}
}

// deliver delivers a trigger to every home once.
func (in *installation) deliver(homes int) {
	in.t.Helper()
	in.delivered(in.trigger(), homes)
	in.arrived += homes
}

// onlyOwn checks that the receiver got only the installation's own signals.
func (in *installation) onlyOwn() {
	in.t.Helper()
	in.receiver.mu.Lock()
	defer in.receiver.mu.Unlock()
	if in.receiver.total != in.arrived {
		in.t.Errorf("%v: %d requests arrived, want %d", in.flags, in.receiver.total, in.arrived)
	}
}

// Two installations with the same organization share an account of NATS. Neither gets the
// other's triggers. A deletion, a backup and a restore of one leave the other as it is.
func TestPrefix_SharedAccount(t *testing.T) {
	t.Parallel()
	const homes = 70
	url := nats(t)
	first := install(t, homes, "--nats", url)
	north := install(t, homes, "--nats", url, "--nats-prefix", "north")
	first.deliver(homes)
	north.deliver(homes)
	first.onlyOwn()
	north.onlyOwn()

	// The backup has a retry of every home, which waits until the receiver recovers.
	var down atomic.Bool
	down.Store(true)
	north.receiver.answer = func(string, string, int) int {
		if down.Load() {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	window := time.Now().UTC().Truncate(time.Hour).Add(48 * time.Hour)
	waiting := north.trigger(window.Format(time.RFC3339), window.Add(24*time.Hour).Format(time.RFC3339))
	north.receiver.wait("an attempt", func() bool { return north.receiver.total > homes })
	key, recipient := keygen(t)
	file := filepath.Join(t.TempDir(), "north.backup")
	north.api.command("backup", file, "--recipient", recipient)
	north.api.command("org", "delete", organization, "--confirm", organization)
	first.deliver(homes)
	first.onlyOwn()

	north.worker.stop()
	north.api.stop()
	down.Store(false)
	restore := append([]string{"restore", file, "--identity", key, "--replace"}, north.flags...)
	if out, err := command(t, nil, restore...); err != nil {
		t.Fatal(out)
	}
	north.start(t)
	north.delivered(waiting, homes)
	first.deliver(homes)
	first.onlyOwn()
	ownNames(t, url, "GRIDHOOK_", "NORTH_")

	// A backup restores under another prefix.
	south := append([]string{"restore", file, "--identity", key}, "--nats", url, "--nats-prefix", "south")
	if out, err := command(t, nil, south...); err != nil {
		t.Fatal(out)
	}
	start(t, "api", t.TempDir(), "--nats", url, "--nats-prefix", "south").command("home", "get", "home_000003", "--org", organization)
	if out, err := command(t, nil, "doctor", "--nats", url, "--nats-prefix", "south", "--data", t.TempDir()); !strings.Contains(out, "streams can be created") {
		t.Errorf("doctor: %v %s", err, out)
	}
	ownNames(t, url, "GRIDHOOK_", "NORTH_", "SOUTH_")
	first.deliver(homes)
	first.onlyOwn()
}

// ownNames checks that each prefix has the same streams, and that their subjects begin
// with the prefix.
func ownNames(t *testing.T, url string, prefixes ...string) {
	t.Helper()
	nc, err := natsio.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]bool{}
	list := js.ListStreams(t.Context())
	for info := range list.Info() {
		prefix, name, _ := strings.Cut(info.Config.Name, "_")
		if found[prefix+"_"] == nil {
			found[prefix+"_"] = map[string]bool{}
		}
		found[prefix+"_"][name] = true
		for _, subject := range info.Config.Subjects {
			if !strings.HasPrefix(subject, strings.ToLower(prefix)+".") {
				t.Errorf("the stream %s has the subject %s", info.Config.Name, subject)
			}
		}
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if len(found) != len(prefixes) {
		t.Errorf("the prefixes are %v, want %v", found, prefixes)
	}
	for _, prefix := range prefixes {
		for name := range found[prefixes[0]] {
			if !found[prefix][name] {
				t.Errorf("there is no stream %s%s", prefix, name)
			}
		}
	}
}
