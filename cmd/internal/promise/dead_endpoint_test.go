package promise

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An endpoint that refuses connections costs a few messages, whatever its number of
// homes, and gets every delivery after its recovery.
func TestDeadEndpoint_Parked(t *testing.T) {
	t.Parallel()
	const slices = 62
	const homes = slices * 64
	p := start(t, "serve", t.TempDir())
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	address := freeAddress(t)
	r.url = "http://" + address
	acme.register(r, map[string]any{"initialSeconds": 1, "multiplier": 2, "maxSeconds": 2, "giveUpSeconds": 3600})
	trigger := acme.trigger(hour())
	var waiting float64
	p.await("the walk to be parked", func() bool {
		waiting = p.metric("gridhook_retries_pending")
		return p.metric("gridhook_walks_parked_total") >= 1 && waiting >= 1
	})
	if waiting > slices/2 { // a walk that is not parked costs a message per slice
		t.Errorf("%d homes of a dead endpoint cost %v messages, want a handful", homes, waiting)
	}
	r.listen(address)
	acme.delivered(trigger, homes)
	// A process that stands still for ten seconds repeats its slices in flight.
	if repeats := r.check(homes); repeats > homes/5 {
		t.Errorf("%d deliveries of %d homes were repeated, want hardly any", repeats, homes)
	}
}

// A newer trigger supersedes the waiting deliveries of an older one.
func TestSupersede_NewestWins(t *testing.T) {
	t.Parallel()
	const homes = 300
	p := start(t, "serve", t.TempDir())
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	refused := "" // the first trigger
	r.answer = func(_, trigger string, _ int) int {
		if refused == "" {
			refused = trigger
		}
		if trigger == refused {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	acme.register(r, map[string]any{"initialSeconds": 3, "multiplier": 1, "maxSeconds": 3, "giveUpSeconds": 600})
	older := acme.trigger()
	r.wait("the older signals to be refused", func() bool { return len(r.got) >= homes })
	newer := acme.trigger()
	acme.delivered(newer, homes)
	if state := acme.completed(older); state.Outcomes["SUPERSEDED"] != homes {
		t.Errorf("the older trigger ended with %+v, want every home superseded", state)
	}
	for home, list := range r.arrivals() {
		accepted := 0
		for _, a := range list {
			if a.status == http.StatusOK {
				accepted++
			}
		}
		if accepted != 1 {
			t.Fatalf("%s accepted %d of %d requests, want the newer one", home, accepted, len(list))
		}
	}
}

// metric returns the value of a metric of the process, summed over its labels.
func (p *process) metric(name string) (sum float64) {
	p.t.Helper()
	response, err := http.Get(p.admin + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, name); ok && rest != "" && (rest[0] == ' ' || rest[0] == '{') {
			value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				p.t.Fatalf("%s: %v", line, err)
			}
			sum += value
		}
	}
	return sum
}

// await repeats a check until a condition holds.
func (p *process) await(what string, condition func() bool) {
	p.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("timeout: %s", what)
		}
	}
}
