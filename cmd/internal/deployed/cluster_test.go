package deployed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.yaml.in/yaml/v3"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage/storagetest"
)

const (
	patience = 2 * time.Minute
	homes    = 200
)

// TestCluster_ServerKilled runs the processes of the compose file and of the manifests: three
// NATS servers with their configuration, an api and two workers. It kills one server.
// Nothing is lost, and triggers are still accepted.
func TestCluster_ServerKilled(t *testing.T) {
	t.Parallel()
	t.Run("compose", func(t *testing.T) { t.Parallel(); survivesKill(t, composeNATS(t)) })
	t.Run("Kubernetes", func(t *testing.T) { t.Parallel(); survivesKill(t, kubernetesNATS(t)) })
}

func survivesKill(t *testing.T, conf natsConf) {
	b := build(t)
	servers, url := natsCluster(t, b.NATS, conf)
	api := start(t, b, "api", url)
	start(t, b, "worker", url)
	start(t, b, "worker", url)

	r := receive(t)
	acme := furnish(t, api, r.url)
	deliver(t, acme)
	spreadConsumers(t, url)
	servers[0].Kill()
	killed := time.Now()
	deliver(t, acme)
	// Without an inspection of NATS, a process is not ready after six seconds.
	eventually(t, "ready without the server", func(ctx context.Context) (bool, error) {
		return time.Since(killed) > 12*time.Second && ready(ctx, api), nil
	})
	if n := r.taken.Load(); n < 2*homes {
		t.Errorf("%d webhooks arrived of %d", n, 2*homes)
	}
}

// receiver counts deliveries. While it is closed it refuses them.
type receiver struct {
	url    string
	closed atomic.Bool
	taken  atomic.Int64
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if r.closed.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.taken.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// build builds the programs, once for all tests.
func build(t *testing.T) blackbox.Binaries {
	t.Helper()
	b, err := built()
	must(t, err)
	return b
}

var (
	folder string // of the programs
	built  = sync.OnceValues(func() (blackbox.Binaries, error) { return blackbox.Build(folder) })
)

func TestMain(m *testing.M) {
	code := 1
	var err error
	if folder, err = os.MkdirTemp("", "gridhook-deployed-"); err == nil {
		code = storagetest.Run(m, 6)
		err = os.RemoveAll(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// natsConf is the configuration of three servers, and the names under which they find each
// other.
type natsConf struct {
	text  string
	names []string
}

func composeNATS(t *testing.T) natsConf {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "compose/nats.conf"))
	must(t, err)
	return natsConf{string(text), []string{"nats-1", "nats-2", "nats-3"}}
}

// kubernetesNATS returns the configuration in the first manifest.
func kubernetesNATS(t *testing.T) natsConf {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "kubernetes/nats.yaml"))
	must(t, err)
	var config struct{ Data map[string]string }
	must(t, yaml.NewDecoder(bytes.NewReader(text)).Decode(&config))
	return natsConf{config.Data["nats.conf"], []string{"nats-0.nats", "nats-1.nats", "nats-2.nats"}}
}

// natsCluster starts three servers with a shipped configuration, on loopback addresses and
// a temporary folder.
func natsCluster(t *testing.T, binary string, conf natsConf) (servers []*blackbox.Process, url string) {
	t.Helper()
	address := func() string {
		a, err := blackbox.FreeAddress()
		must(t, err)
		return a
	}
	var routes, urls, health []string
	for range conf.names {
		routes = append(routes, address())
	}
	specs := make([]blackbox.Spec, len(conf.names))
	for i, name := range conf.names {
		dir, client, monitor := t.TempDir(), address(), address()
		urls, health = append(urls, "nats://"+client), append(health, "http://"+monitor+"/healthz")
		replace := []string{
			"0.0.0.0:4222", client, "0.0.0.0:8222", monitor, "0.0.0.0:6222", routes[i], "store_dir: /data", fmt.Sprintf("store_dir: %q", dir),
		}
		for j, other := range conf.names {
			replace = append(replace, other+":6222", routes[j])
		}
		file := filepath.Join(dir, "nats.conf")
		must(t, os.WriteFile(file, []byte(strings.NewReplacer(replace...).Replace(conf.text)), 0o600))
		specs[i] = blackbox.Spec{
			Binary: binary, Args: []string{"-c", file}, Env: []string{"NATS_NAME=" + name}, Log: &blackboxtest.Tail{}, Patience: patience,
			Ready: func(line string) bool { return strings.Contains(line, "Server is ready") },
		}
	}
	for _, s := range specs {
		server, err := blackbox.Start(s)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.Env[0], err, s.Log.(*blackboxtest.Tail).Last(3000))
		}
		t.Cleanup(server.Kill)
		servers = append(servers, server)
	}
	for _, url := range health { // like the compose file's health check
		eventually(t, url, func(ctx context.Context) (bool, error) { return answers(ctx, url) })
	}
	return servers, strings.Join(urls, ",")
}

func answers(ctx context.Context, url string) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK, fmt.Errorf("it answered %s", response.Status)
}

// start starts a process of the fleet like the compose file.
func start(t *testing.T, b blackbox.Binaries, role, url string) *blackbox.Gridhook {
	t.Helper()
	return startWith(t, b, role, "GRIDHOOK_NATS="+url, "GRIDHOOK_NATS_REPLICAS=3")
}

func startWith(t *testing.T, b blackbox.Binaries, role string, env ...string) *blackbox.Gridhook {
	t.Helper()
	return blackboxtest.Start(t, blackbox.Run{Binary: b.Gridhook, Role: role, Data: t.TempDir(), Patience: patience, Env: env})
}

// connect connects to NATS for the rest of the test.
func connect(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	must(t, err)
	return js
}

// spreadConsumers makes consumers of the triggers without replicas, on any server of the
// cluster. NATS describes a consumer on a server that is down only after seconds. A ledger
// that has just connected again has such a consumer too.
func spreadConsumers(t *testing.T, url string) {
	t.Helper()
	js := connect(t, url)
	for range 12 {
		_, err := js.CreateConsumer(t.Context(), "GRIDHOOK_TRIGGERS", jetstream.ConsumerConfig{Replicas: 1, MemoryStorage: true, InactiveThreshold: time.Hour})
		must(t, err)
	}
}

// ready reports whether a process is ready.
func ready(ctx context.Context, g *blackbox.Gridhook) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.Admin+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// eventually repeats a check until it succeeds.
func eventually(t *testing.T, what string, ask func(context.Context) (enough bool, err error)) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		enough, err := ask(ctx)
		if enough {
			t.Logf("%s: %s", what, time.Since(began).Round(time.Millisecond))
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: timeout: %v", what, err)
		}
	}
}

// furnish imports an organization with homes and an endpoint. It repeats the import while
// the cluster does not accept writes, for example before it has elected its leaders.
func furnish(t *testing.T, api *blackbox.Gridhook, hook string) *client.Client {
	t.Helper()
	operator, plan := blackboxtest.Operator(t, api), catalog.Plans()[0]
	var tariff, lines bytes.Buffer
	must(t, json.Compact(&tariff, plan.URDB))
	fmt.Fprintln(&lines, `{"resource":"organization","id":"acme","name":"Acme"}`)
	fmt.Fprintf(&lines, `{"resource":"ratePlan","id":%q,"tariff":%s}`+"\n", plan.ID, &tariff)
	for i := range homes {
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":"acme","id":"home_%d","timezone":%q,"ratePlanId":%q}`+"\n", i, plan.Timezone, plan.ID)
	}
	fmt.Fprintf(&lines, `{"resource":"webhookEndpoint","organizationId":"acme","id":"hook","url":%q,`+
		`"retryPolicy":{"initialSeconds":1,"multiplier":2,"maxSeconds":4,"giveUpSeconds":600}}`+"\n", hook)
	eventually(t, "import", func(ctx context.Context) (bool, error) {
		imported, err := operator.Import(ctx, bytes.NewReader(lines.Bytes()))
		if err == nil && imported.Failed > 0 {
			err = fmt.Errorf("%+v", imported)
		}
		return err == nil, err
	})
	return operator.For("acme")
}

// deliver triggers once and waits until every home is delivered.
func deliver(t *testing.T, acme *client.Client) {
	t.Helper()
	delivered(t, acme, trigger(t, acme))
}

// trigger triggers, and repeats until the cluster accepts it.
func trigger(t *testing.T, acme *client.Client) (id string) {
	t.Helper()
	var accepted client.Accepted
	request := client.TriggerRequest{IdempotencyKey: fmt.Sprint(time.Now().UnixNano())}
	eventually(t, "trigger", func(ctx context.Context) (_ bool, err error) {
		accepted, err = acme.Trigger(ctx, request)
		return err == nil, err
	})
	return accepted.TriggerID
}

// delivered waits until every home of a trigger is delivered.
func delivered(t *testing.T, acme *client.Client, id string) {
	t.Helper()
	eventually(t, "deliver", func(ctx context.Context) (bool, error) {
		p, err := acme.GetTrigger(ctx, id)
		return err == nil && p.Outcomes[events.OutcomeDelivered] == homes, err
	})
}
