package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// binaries are built once, from this tree.
var binaries blackbox.Binaries

func TestMain(m *testing.M) {
	code, err := func() (int, error) {
		dir, err := os.MkdirTemp("", "gridhook-observe-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		if binaries, err = blackbox.Build(dir); err != nil {
			return 1, err
		}
		return storagetest.Run(m, 0), nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

const plan = "pge-e-elec"

// world is Gridhook under test, and its operator.
type world struct {
	t        *testing.T
	main     *blackbox.Gridhook // serve or api
	operator *client.Client
}

// start starts one process, and ends it with the test.
func start(t *testing.T, role, data string, args ...string) *blackbox.Gridhook {
	t.Helper()
	return blackboxtest.Start(t, blackbox.Run{Binary: binaries.Gridhook, Role: role, Data: data, Args: args, Patience: patience})
}

// newWorld returns the operator's view of a running process with a rate plan.
func newWorld(t *testing.T, g *blackbox.Gridhook) *world {
	t.Helper()
	w := &world{t: t, main: g, operator: blackboxtest.Operator(t, g)}
	p, ok := catalog.ByID(plan)
	if !ok {
		t.Fatalf("the catalog has no %s", plan)
	}
	_, err := w.operator.ImportPlan(t.Context(), client.NewPlan{ID: plan, Tariff: p.URDB})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// organization creates an organization with homes and an endpoint.
func (w *world) organization(id string, homes int, endpoint client.EndpointFields) {
	w.t.Helper()
	_, err := w.operator.CreateOrganization(w.t.Context(), client.NewOrganization{ID: id, Name: id})
	w.must(err)
	if homes > 0 {
		w.homes(id, homes, plan)
	}
	if endpoint.URL != nil {
		_, err := w.operator.For(id).CreateEndpoint(w.t.Context(), client.NewEndpoint{EndpointFields: endpoint})
		w.must(err)
	}
}

// homes imports homes on a rate plan.
func (w *world) homes(organization string, n int, ratePlan string) {
	w.t.Helper()
	imported, err := w.operator.Import(w.t.Context(), homeLines(organization, n, ratePlan))
	w.must(err)
	if imported.Failed > 0 {
		w.t.Fatalf("%d homes were refused, the first: %v", imported.Failed, imported.Errors[0])
	}
}

func homeLines(organization string, n int, ratePlan string) *bytes.Buffer {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range n {
		_ = encoder.Encode(map[string]any{
			"resource": "home", "organizationId": organization, "id": fmt.Sprintf("home_%06d", i),
			"timezone": "America/Los_Angeles", "ratePlanId": ratePlan,
		})
	}
	return &lines
}

func (w *world) trigger(organization string) {
	w.t.Helper()
	_, err := w.operator.For(organization).Trigger(w.t.Context(), client.TriggerRequest{})
	w.must(err)
}

// triggerPast triggers for a window in the past.
func (w *world) triggerPast(organization string) {
	w.t.Helper()
	end := time.Now().Add(-time.Hour)
	from, to := storage.Time{Time: end.Add(-time.Hour)}, storage.Time{Time: end}
	_, err := w.operator.For(organization).Trigger(w.t.Context(), client.TriggerRequest{StartTime: &from, EndTime: &to})
	w.must(err)
}

// every calls a function at once and then at an interval until the test ends.
func every(t *testing.T, pause time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for ctx.Err() == nil {
			do(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// answering is a receiver that responds with a status.
func answering(t *testing.T, status int) client.EndpointFields {
	t.Helper()
	return receiving(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func receiving(t *testing.T, answer http.HandlerFunc) client.EndpointFields {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return client.EndpointFields{URL: &s.URL}
}

// nobody returns the URL of a closed port.
func nobody(t *testing.T) client.EndpointFields {
	t.Helper()
	address, err := blackbox.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + address
	return client.EndpointFields{URL: &url}
}

// metricsAddress returns the address that Prometheus scrapes.
func metricsAddress(g *blackbox.Gridhook) string { return strings.TrimPrefix(g.Admin, "http://") }
