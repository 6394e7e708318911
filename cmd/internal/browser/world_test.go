package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// These are the tenant of the tests, its homes, and their place.
const (
	organization = "acme"
	homes        = 130
	zone         = "America/Los_Angeles"
)

// other is another tenant, with the longest possible id.
var other = strings.Repeat("o", 128)

func home(i int) string { return fmt.Sprintf("home_%04d", i) }

// These homes are refused by the receiver: one at first, and one always.
var shyHome, lostHome = home(7), home(9)

// longWord is a name without a place to break a line. It must not widen the page.
var longWord = strings.Repeat("W", 255)

// refusal is the receiver's error response. Its markup must stay text.
const refusal = `<b onclick="alert(1)">the meter cupboard is locked</b>`

// world is a running gridhook with an organization, and a receiver.
type world struct {
	t *testing.T
	*blackbox.Gridhook
	binary, operatorKey string
	receiver            *receiver
}

// newWorld starts everything.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, binary: filepath.Join(dir, "gridhook"), receiver: newReceiver(t)}
	if err := blackbox.BuildGridhook(w.binary); err != nil {
		t.Fatal(err)
	}
	w.Gridhook = blackboxtest.Start(t, blackbox.Run{Binary: w.binary, Role: "serve", Data: filepath.Join(dir, "data"), Patience: patience})
	w.operatorKey = blackboxtest.OperatorKey(t, w.Gridhook)
	w.furnish(dir)
	return w
}

// furnish creates the organization with homes on a real tariff.
func (w *world) furnish(dir string) {
	w.t.Helper()
	w.command("org", "create", "--id", organization, "--name", "Acme Energy")
	w.command("org", "create", "--id", other, "--name", "Somebody Else")
	plan := plan(w.t)
	tariff := filepath.Join(dir, "plan.json")
	w.write(tariff, plan.URDB)
	w.command("plan", "import", "--id", plan.ID, tariff)
	var lines bytes.Buffer
	for i := range homes {
		name := fmt.Sprintf("Number %d", i)
		if home(i) == lostHome {
			name = longWord
		}
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":%q,"name":%q,"timezone":%q,"zipcode":"94110","city":"San Francisco","ratePlanId":%q}`+"\n",
			organization, home(i), name, zone, plan.ID)
	}
	fmt.Fprintf(&lines, `{"resource":"solar","organizationId":%q,"homeId":%q,"solarSystemSizeKw":6,"isNonNetMetered":false}`+"\n", organization, home(3))
	fmt.Fprintf(&lines, `{"resource":"hvacDevice","organizationId":%q,"deviceId":"thermostat-3","homeId":%q,"systemDetails":{"name":"Hallway","tempUnits":"F","defaultMode":"AUTO"},`+
		`"targetCoolSetpoint":76,"targetHeatSetpoint":68,"maxTemp":79,"minTemp":65,"currentTemp":70,"coolingRate":6,"heatingRate":8,"heatTransferCoefficient":0.04,"irradianceCoefficient":1.5}`+"\n", organization, home(3))
	file := filepath.Join(dir, "homes.ndjson")
	w.write(file, lines.Bytes())
	w.command("import", file)
}

// plan returns the catalog's first plan in the homes' time zone with several prices a
// day.
func plan(t *testing.T) catalog.Plan {
	t.Helper()
	for _, p := range catalog.Plans() {
		tariff, err := urdb.Parse(p.URDB)
		if p.Timezone != zone || err != nil {
			continue
		}
		if day := tariff.AnyDay(tariff.Info().EffectiveFrom); day.Periods() > 2 {
			return p
		}
	}
	t.Fatalf("the catalog has no plan in %s", zone)
	return catalog.Plan{}
}

// key creates a key of the organization with scopes.
func (w *world) key(scopes ...string) string {
	w.t.Helper()
	args := []string{"key", "create", "--org", organization, "--json"}
	for _, s := range scopes {
		args = append(args, "--scopes", s)
	}
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(w.command(args...)), &made); err != nil || made.Key == "" {
		w.t.Fatalf("the key was not created: %v", err)
	}
	return made.Key
}

// giveUp ends the retries of an endpoint's deliveries.
func (w *world) giveUp(endpoint string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.Admin+"/v1/webhook/endpoints/"+endpoint+"/update",
		strings.NewReader(`{"retryPolicy":{"giveUpSeconds":0}}`))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", w.operatorKey)
	request.Header.Set("x-gridhook-organization", organization)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		w.t.Fatalf("the endpoint was not changed: %s", answer.Status)
	}
}

// command runs a subcommand against the process. It must succeed.
func (w *world) command(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.binary, append(args, "--admin-url", w.Admin, "--data", w.Data)...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("gridhook %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), problems.String())
	}
	return out.String()
}

func (w *world) write(path string, data []byte) {
	w.t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// receiver responds 500 for the shy home until relent is called, and for the lost home
// until findTheKey is called.
type receiver struct {
	url string

	mu      sync.Mutex
	patient bool
	open    bool
	tests   int
	bodies  map[string]string // the last body by home
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{bodies: map[string]string{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// serve makes the receiver listen at another address too, until the test ends.
func (r *receiver) serve(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
}

// ServeHTTP receives a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the connection broke
	}
	var event struct {
		Type string
		Data struct{ HomeID string }
	}
	_ = json.Unmarshal(body, &event) // a body without an event names no home
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies[event.Data.HomeID] = string(body)
	if event.Type == "webhook.test" {
		r.tests++
	}
	if event.Data.HomeID == lostHome && !r.open || event.Data.HomeID == shyHome && !r.patient {
		http.Error(w, refusal, http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// relent lets the shy home's deliveries succeed.
func (r *receiver) relent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.patient = true
}

// findTheKey lets the lost home's deliveries succeed.
func (r *receiver) findTheKey() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = true
}

// tested returns how many tests arrived.
func (r *receiver) tested() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tests
}

// body returns the last body of a home.
func (r *receiver) body(home string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies[home]
}
