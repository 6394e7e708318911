package promise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/catalog"
)

// organization is the tenant of these tests.
const organization = "acme"

// partner is an organization's side: its key, its homes, and the API's address.
type partner struct {
	t    *testing.T
	key  string
	home func(i int) string
	// api is the API's address, which changes at a restart.
	api string
}

// plans are real tariffs in different time zones.
func plans() []catalog.Plan {
	var picked []catalog.Plan
	seen := map[string]bool{}
	for _, p := range catalog.Plans() {
		if !seen[p.Timezone] && len(picked) < 3 {
			picked = append(picked, p)
			seen[p.Timezone] = true
		}
	}
	return picked
}

// furnish creates an organization with a key, three real tariffs and a number of homes,
// by the command line.
func furnish(t *testing.T, p *process, homes int) *partner {
	t.Helper()
	p.command("org", "create", "--id", organization, "--name", "Acme Thermostats")
	made := decode[struct{ Key string }](t, p.command("key", "create", "--org", organization, "--json"))
	dir := t.TempDir()
	for _, plan := range plans() {
		file := filepath.Join(dir, plan.ID+".json")
		writeFile(t, file, plan.URDB)
		p.command("plan", "import", "--id", plan.ID, file)
	}
	var lines bytes.Buffer
	id := func(i int) string { return fmt.Sprintf("home_%06d", i) }
	for i := range homes {
		plan := plans()[i%len(plans())]
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":%q,"name":"Home %d","timezone":%q,"ratePlanId":%q}`+"\n",
			organization, id(i), i, plan.Timezone, plan.ID)
	}
	file := filepath.Join(dir, "homes.ndjson")
	writeFile(t, file, lines.Bytes())
	p.command("import", file)
	return &partner{t: t, key: made.Key, home: id, api: p.api}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// call calls an operation of the API, which must succeed.
func (p *partner) call(path string, in any) []byte {
	p.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.api+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", p.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	out, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %v: %s", path, response.Status, err, out)
	}
	return out
}

// register registers a receiver as the organization's endpoint.
func (p *partner) register(r *receiver, policy map[string]any) {
	p.t.Helper()
	in := map[string]any{"url": r.url, "timeoutSeconds": 30, "eventTypes": []string{"price_signal.updated"}}
	if policy != nil {
		in["retryPolicy"] = policy
	}
	made := decode[struct{ Secret string }](p.t, string(p.call("/v1/webhook/endpoints/create", in)))
	r.trust(made.Secret)
}

// trigger triggers a window, by default the next day.
func (p *partner) trigger(window ...string) string {
	p.t.Helper()
	in := map[string]any{"startTime": nil, "endTime": nil}
	if len(window) == 2 {
		in["startTime"], in["endTime"] = window[0], window[1]
	}
	made := decode[struct {
		TriggerID, Status string
	}](p.t, string(p.call("/v1/webhook/price_signal/trigger", in)))
	if made.Status != "ACCEPTED" || !strings.HasPrefix(made.TriggerID, "trg_") {
		p.t.Fatalf("the response to the trigger is %+v", made)
	}
	return made.TriggerID
}

// hour is the window of tests with many homes: an hour of the next day. Its signals are
// short, so that the receiver, which decodes and verifies each, takes little time.
func hour() (from, until string) {
	at := time.Now().UTC().Truncate(time.Hour).Add(24 * time.Hour)
	return at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339)
}

// progress returns a trigger's state from the operation.
type progress struct {
	Status        string
	Homes, Walked int
	Outcomes      map[string]int
}

// completed waits until a trigger is completed and has no retries.
func (p *partner) completed(trigger string) progress {
	p.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		state := decode[progress](p.t, string(p.call("/v1/webhook/price_signal/trigger/"+trigger+"/get", map[string]any{})))
		if state.Status == "COMPLETED" {
			return state
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("the trigger does not complete: %+v", state)
		}
	}
}

// delivered checks that every home of a trigger is delivered, and that there is no other
// outcome.
func (p *partner) delivered(trigger string, homes int) {
	p.t.Helper()
	state := p.completed(trigger)
	if state.Homes != homes || state.Walked != homes || state.Outcomes["DELIVERED"] != homes {
		p.t.Errorf("the trigger ended with %+v, want %d homes delivered", state, homes)
	}
	for outcome, n := range state.Outcomes {
		if outcome != "DELIVERED" && n != 0 {
			p.t.Errorf("%d homes ended %s", n, outcome)
		}
	}
}
