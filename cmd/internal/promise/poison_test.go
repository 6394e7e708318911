package promise

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// spoil replaces a record in the log of record with one that does not decode, like
// another writer, and returns when the API reads it.
func (p *process) spoil(server, kind, id string) {
	p.t.Helper()
	conn, err := natsclient.Connect(server)
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		p.t.Fatal(err)
	}
	stream, err := js.Stream(p.t.Context(), "GRIDHOOK_STATE")
	if err != nil {
		p.t.Fatal(err)
	}
	subject := fmt.Sprintf("gridhook.state.%s.%s.%s", kind, organization, id)
	last, err := stream.GetLastMsgForSubject(p.t.Context(), subject)
	if err != nil {
		p.t.Fatal(err)
	}
	record := decode[map[string]json.RawMessage](p.t, string(last.Data))
	record["value"] = json.RawMessage(`["not", "what", "was", "stored"]`)
	data, err := json.Marshal(record)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := js.Publish(p.t.Context(), subject, data, jetstream.WithExpectLastSequencePerSubject(last.Sequence)); err != nil {
		p.t.Fatal(err)
	}
	// After its own write the API has also read the record before it.
	p.command("key", "create", "--org", organization)
}

// outcome is a line of the delivery log.
type outcome struct{ HomeID, EndpointID, Outcome, Reason string }

// outcomes returns a trigger's deliveries.
func (p *partner) outcomes(trigger, of string) []outcome {
	p.t.Helper()
	return decode[struct{ Data []outcome }](p.t, string(p.call("/v1/webhook/deliveries/list",
		map[string]any{"triggerId": trigger, "outcome": of, "limit": 1000}))).Data
}

// allButOne checks that a trigger ends with one unpriceable home, for a reason, and every
// other home delivered.
func (p *partner) allButOne(trigger string, homes int, home, reason string) {
	p.t.Helper()
	state := p.completed(trigger)
	if state.Walked != homes || state.Outcomes["DELIVERED"] != homes-1 || state.Outcomes["UNPRICEABLE"] != 1 {
		p.t.Errorf("the trigger ended with %+v, want %d homes delivered and 1 unpriceable", state, homes-1)
	}
	list := p.outcomes(trigger, "UNPRICEABLE")
	if len(list) != 1 || list[0].HomeID != home || !strings.Contains(list[0].Reason, reason) {
		p.t.Errorf("the log has %+v, want %s once: %s", list, home, reason)
	}
}

// undelayed checks that no message of a worker failed. A slice that fails is parked, and
// delays its other homes.
func (p *process) undelayed() {
	p.t.Helper()
	for _, name := range []string{"gridhook_messages_failed_total", "gridhook_dead_letters_total"} {
		if n := p.metric(name); n != 0 {
			p.t.Errorf("%s is %v, want 0", name, n)
		}
	}
}

// A home whose record cannot be decoded ends with an outcome that says so, and delays no
// other home.
func TestPoison_HomeThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	const homes = 1000
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	worker := start(t, "worker", t.TempDir(), "--nats", server)
	acme := furnish(t, api, homes)
	r := newReceiver(t)
	acme.register(r, nil)
	acme.delivered(acme.trigger(hour()), homes)
	bad := acme.home(500)
	api.spoil(server, "home", bad)
	acme.allButOne(acme.trigger(hour()), homes, bad, fmt.Sprintf("the stored home %q cannot be decoded", bad))
	worker.undelayed()
	if n := worker.metric("gridhook_homes_failed_total"); n != 1 {
		t.Errorf("gridhook_homes_failed_total is %v, want 1", n)
	}
	if n := len(r.arrivals()[bad]); n != 1 {
		t.Errorf("%s came %d times, want once, before it was broken", bad, n)
	}
}

// An endpoint whose record cannot be decoded fails only its own deliveries. The
// organization's other endpoint gets all of its own.
func TestPoison_EndpointThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	const homes = 1000
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	worker := start(t, "worker", t.TempDir(), "--nats", server)
	acme := furnish(t, api, homes)
	good := newReceiver(t)
	acme.register(good, nil)
	acme.delivered(acme.trigger(hour()), homes)
	made := decode[struct{ ID string }](t, string(acme.call("/v1/webhook/endpoints/create", map[string]any{"url": newReceiver(t).url})))
	api.spoil(server, "webhookEndpoint", made.ID)
	trigger := acme.trigger(hour())
	state := acme.completed(trigger)
	if state.Walked != homes || state.Outcomes["DELIVERED"] != homes || state.Outcomes["FAILED"] != homes {
		t.Errorf("the trigger ended with %+v, want %d delivered and as many failed", state, homes)
	}
	worker.undelayed()
	for _, d := range acme.outcomes(trigger, "FAILED") {
		if d.EndpointID != made.ID || !strings.Contains(d.Reason, fmt.Sprintf("the stored endpoint %q cannot be used", made.ID)) {
			t.Fatalf("the log has %+v, want the broken endpoint and the reason", d)
		}
	}
	if n := len(good.arrivals()); n != homes {
		t.Errorf("the good endpoint got %d homes, want %d", n, homes)
	}
}

// A home whose tariff makes pricing panic ends with an outcome that says so, and delays
// no other home.
func TestPoison_TariffThatPanics(t *testing.T) {
	t.Parallel()
	const homes = 1000
	binary, err := blackbox.BuildWithFailpoints(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	running := blackboxtest.Start(t, blackbox.Run{
		Binary: binary, Role: "worker", Data: t.TempDir(), Patience: patience, Args: []string{"--nats", server},
		Env: []string{blackbox.FailpointEnv + `=bugPricePanic=return("bad")`},
	})
	worker := newProcess(t, running)
	acme := furnish(t, api, homes)
	r := newReceiver(t)
	acme.register(r, nil)
	acme.delivered(acme.trigger(hour()), homes)
	bad, plan, dir := acme.home(500), plans()[0], t.TempDir()
	tariff, line := filepath.Join(dir, "tariff.json"), filepath.Join(dir, "home.ndjson")
	writeFile(t, tariff, plan.URDB)
	api.command("plan", "import", "--id", "bad", tariff)
	writeFile(t, line, fmt.Appendf(nil, `{"resource":"home","organizationId":%q,"id":%q,"name":"Bad","timezone":%q,"ratePlanId":"bad"}`+"\n",
		organization, bad, plan.Timezone))
	api.command("import", line)
	acme.allButOne(acme.trigger(hour()), homes, bad, "an internal error: the calculation of the home's prices failed")
	worker.undelayed()
}
