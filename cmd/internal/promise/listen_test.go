package promise

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// listenCommand is a running `gridhook listen`.
type listenCommand struct {
	*blackbox.Process
	secret, endpoint string
}

// listen runs `gridhook listen` with the partner's key. It forwards to a receiver.
func (p *partner) listen(r *receiver, args ...string) *listenCommand {
	p.t.Helper()
	l := &listenCommand{}
	l.Process = blackboxtest.StartProcess(p.t, "listen", blackbox.Spec{
		Binary: binaries.Gridhook, Args: append([]string{"listen", "--api-url", p.api, "--forward", r.url}, args...),
		Env: []string{"GRIDHOOK_API_KEY=" + p.key}, Patience: patience,
		Ready: func(line string) bool {
			if secret, ok := strings.CutPrefix(line, "signing secret "); ok {
				l.secret = secret
			}
			rest, ok := strings.CutPrefix(line, "listening at the temporary endpoint ")
			if ok {
				l.endpoint, _, _ = strings.Cut(rest, " ")
			}
			return ok
		},
	})
	r.trust(l.secret)
	return l
}

// endpoints returns the identifiers of the organization's endpoints.
func (p *partner) endpoints() (ids []string) {
	p.t.Helper()
	page := decode[struct{ Data []struct{ ID string } }](p.t, string(p.call("/v1/webhook/endpoints/list", map[string]any{})))
	for _, e := range page.Data {
		ids = append(ids, e.ID)
	}
	return ids
}

// retrying waits until a delivery of a trigger waits for its retry for a reason.
func (p *partner) retrying(trigger, reason string) {
	p.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		page := decode[struct{ Data []struct{ Reason string } }](p.t,
			string(p.call("/v1/webhook/deliveries/list", map[string]any{"triggerId": trigger, "outcome": "RETRYING"})))
		for _, d := range page.Data {
			if strings.Contains(d.Reason, reason) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("no delivery waits for a retry because %q: %v", reason, page.Data)
		}
	}
}

// TestListen_BehindNAT runs a fleet that must not reach the receiver's address. The
// receiver gets every webhook over the connection of `gridhook listen`, its status is the
// outcome, and a killed command continues with what is pending.
func TestListen_BehindNAT(t *testing.T) {
	t.Parallel()
	const homes = 6
	server := nats(t)
	public := []string{"--nats", server, "--allow-private-destinations=false"}
	api := start(t, "api", t.TempDir(), public...)
	start(t, "worker", t.TempDir(), public...)
	acme := furnish(t, api, homes)
	r := newReceiver(t)
	if out, err := api.try("endpoint", "create", "--org", organization, "--url", r.url); err == nil {
		t.Fatalf("the server accepts the receiver's address: %s", out)
	}
	r.answer = func(home, _ string, n int) int {
		if home == acme.home(0) && n == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	first := acme.listen(r)
	acme.delivered(acme.trigger(), homes)
	if repeats, retried := r.check(homes), len(r.arrivals()[acme.home(0)]); repeats != 0 || retried != 2 {
		t.Errorf("%d deliveries were repeated, and the home with a 500 got %d requests, want 2", repeats, retried)
	}
	acme.refusesForeignKey(api, first.endpoint)

	first.Kill()
	pending := acme.trigger()
	acme.retrying(pending, "no client listens") // the server may not know at once that the connection ended
	second := acme.listen(r, "--endpoint", first.endpoint)
	acme.delivered(pending, homes)
	if second.endpoint != first.endpoint || second.secret == first.secret {
		t.Errorf("it continues at %s with the secret %q", second.endpoint, second.secret)
	}
	if err := second.Stop(patience); err != nil {
		t.Error(err)
	}
	if left := acme.endpoints(); len(left) > 0 {
		t.Errorf("the endpoints %v are left", left)
	}
}

// refusesForeignKey checks that the key of another organization cannot listen or respond.
func (p *partner) refusesForeignKey(api *process, endpoint string) {
	p.t.Helper()
	api.command("org", "create", "--id", "bolt", "--name", "Bolt")
	made := decode[struct{ Key string }](p.t, api.command("key", "create", "--org", "bolt", "--json"))
	for operation, body := range map[string]string{"listen": `{"seconds":1}`, "respond": `{"id":"x","status":200}`} {
		request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.api+"/v1/webhook/endpoints/"+endpoint+"/"+operation, strings.NewReader(body))
		if err != nil {
			p.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("x-ws-api-key", made.Key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			p.t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			p.t.Errorf("%s with another organization's key responds %s", operation, response.Status)
		}
	}
}
