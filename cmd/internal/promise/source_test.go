package promise

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// operatorServer publishes the hourly prices of a node, as the server of a grid operator.
type operatorServer struct {
	url string

	mu     sync.Mutex
	status int
	prices string
	// asked is the time of the first request since the prices were published.
	asked time.Time
	// held receives the requests that wait until their client is gone, nil to respond.
	held chan *http.Request
}

func newOperatorServer(t *testing.T) *operatorServer {
	o := &operatorServer{status: http.StatusOK}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

func (o *operatorServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	held, status, prices := o.held, o.status, o.prices
	if o.asked.IsZero() {
		o.asked = time.Now()
	}
	o.mu.Unlock()
	if held != nil {
		held <- r
		<-r.Context().Done()
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(prices))
}

// publish has the next responses list three days of prices, in $/MWh, until tomorrow.
func (o *operatorServer) publish(status int, price float64) {
	from := time.Now().UTC().Truncate(time.Hour).Add(-48 * time.Hour)
	var b strings.Builder
	b.WriteString("start,price_usd_mwh\n")
	for i := range 72 {
		fmt.Fprintf(&b, "%s,%v\n", from.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), price+float64(i%24))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status, o.prices, o.held, o.asked = status, b.String(), nil, time.Time{}
}

func (o *operatorServer) firstAsked() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

// hold has the next requests wait until their client is gone.
func (o *operatorServer) hold() <-chan *http.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = make(chan *http.Request, 9)
	return o.held
}

// live is what a command shows of a source.
type live struct {
	Failures int
	DataEnd  *time.Time
	Runs     []struct{ Outcome, Error string }
}

func (p *process) source(id string) live {
	p.t.Helper()
	return decode[live](p.t, p.command("source", "get", id, "--json"))
}

// newPricesWithin is the maximum time from a source's response with new prices to the
// webhooks. The schedule waits 5 to 10 s of it for further changes. The time does not
// include the start of commands, so the test is not flaky: with a load of 15 on two cores it
// measured 8.1 to 9.4 s.
const newPricesWithin = 15 * time.Second

// TestSource_EndToEnd follows prices that come in by themselves through a fleet: new
// prices reach the homes on the source's plan and no other home; a source that fails
// recovers by itself; a run whose worker is killed is repeated.
func TestSource_EndToEnd(t *testing.T) {
	t.Parallel()
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	workers := make([]*process, 2)
	for i := range workers {
		workers[i] = start(t, "worker", t.TempDir(), "--nats", server)
	}
	acme := furnish(t, api, 6) // on other plans
	r := newReceiver(t)
	acme.register(r, nil)
	o, failing := newOperatorServer(t), newOperatorServer(t)
	for id, server := range map[string]*operatorServer{"hub": o, "failing": failing} {
		server.publish(http.StatusOK, 40)
		api.command("source", "add", "--id", id, "--adapter", "csv", "--url", server.url, "--param", "node="+id, "--plan", id, "--every", "1h")
		api.await("the first prices", func() bool { return len(api.source(id).Runs) == 1 })
	}
	homes := filepath.Join(t.TempDir(), "homes.ndjson")
	var lines strings.Builder
	for i := range 3 {
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":"live_%d","timezone":"America/Chicago","ratePlanId":"hub"}`+"\n", organization, i)
	}
	fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":"recovered","timezone":"America/Chicago","ratePlanId":"failing"}`+"\n", organization)
	writeFile(t, homes, []byte(lines.String()))
	api.command("import", homes)
	api.command("schedule", "create", "--org", organization, "--on-price-change")

	// affected waits until the live homes have n signals each.
	affected := func(what string, n int) {
		t.Helper()
		r.wait(what, func() bool {
			return len(r.got["live_0"]) >= n && len(r.got["live_1"]) >= n && len(r.got["live_2"]) >= n
		})
		got := r.arrivals()
		delete(got, "recovered")
		if len(got) != 3 {
			t.Errorf("%s: signals of the homes %v", what, slices.Sorted(maps.Keys(got)))
		}
	}

	// A server fails, and is back with other prices. The source recovers by itself, during
	// the rest of the test.
	failing.publish(http.StatusInternalServerError, 60)
	api.command("source", "run", "failing")
	api.await("a failed run", func() bool { return api.source("failing").Failures > 0 })
	api.await("a worker that counts the failed run", func() bool {
		return slices.ContainsFunc(workers, func(w *process) bool {
			return w.metric(`gridhook_source_runs_total{adapter="csv",outcome="FAILED"}`) >= 1
		})
	})
	failing.publish(http.StatusOK, 60)

	o.publish(http.StatusOK, 50)
	api.command("source", "run", "hub")
	affected("the signals of new prices", 1)
	for _, home := range []string{"live_0", "live_1", "live_2"} {
		got := r.arrivals()[home]
		if took := got[0].at.Sub(o.firstAsked()); took > newPricesWithin {
			t.Errorf("the signal of %s came %v after the source's response, want at most %v", home, took, newPricesWithin)
		}
	}

	// Worker after worker is killed until the run is interrupted.
	runs := len(api.source("hub").Runs)
	held := o.hold()
	api.command("source", "run", "hub")
	request := <-held
	for _, w := range workers {
		w.kill()
		select {
		case <-request.Context().Done():
		case <-time.After(time.Second):
			continue
		}
		break
	}
	select {
	case <-request.Context().Done():
	case <-time.After(patience):
		t.Fatal("no worker has the run")
	}
	o.publish(http.StatusOK, 70)
	start(t, "worker", t.TempDir(), "--nats", server)
	affected("the signals of the repeated run", 2)
	if s := api.source("hub"); len(s.Runs) != runs+1 || s.Runs[0].Outcome != "STORED" {
		t.Errorf("after the kill: %+v", s)
	}
	r.wait("the signal after the recovery", func() bool { return len(r.got["recovered"]) >= 1 })
	if s := api.source("failing"); s.Failures != 0 || s.Runs[0].Outcome != "STORED" || s.Runs[1].Outcome != "FAILED" || !strings.Contains(s.Runs[1].Error, "500") {
		t.Errorf("after the recovery: %+v", s)
	}
}
