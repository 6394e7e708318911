package promise

import (
	"testing"
	"time"
)

// breaker is an endpoint's breaker in a response.
type breaker struct {
	State              string
	Since, NextProbeAt *time.Time
	Workers            int
}

// breaker returns the breaker of the organization's only endpoint.
func (p *partner) breaker() breaker {
	p.t.Helper()
	list := decode[struct{ Data []struct{ Breaker breaker } }](p.t, string(p.call("/v1/webhook/endpoints/list", map[string]any{})))
	if len(list.Data) != 1 {
		p.t.Fatalf("there are %d endpoints", len(list.Data))
	}
	return list.Data[0].Breaker
}

// An api shows the breaker of an endpoint as its workers report it: they stopped sending,
// one of them died, and the endpoint recovered.
func TestBreaker_Shown(t *testing.T) {
	t.Parallel()
	const homes = 300
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	one := start(t, "worker", t.TempDir(), "--nats", server)
	acme := furnish(t, api, homes)
	r := newReceiver(t)
	address := freeAddress(t)
	r.url = "http://" + address
	acme.register(r, map[string]any{"initialSeconds": 4, "multiplier": 1, "maxSeconds": 4, "giveUpSeconds": 3600})
	if b := acme.breaker(); b != (breaker{State: "CLOSED"}) {
		t.Errorf("before the first delivery the breaker is %+v", b)
	}
	began := time.Now()
	trigger := acme.trigger(hour())
	var seen breaker
	api.await("the breaker to be open", func() bool { seen = acme.breaker(); return seen.State == "OPEN" })
	if seen.Workers != 1 || seen.Since == nil || seen.Since.Before(began.Add(-time.Second)) || seen.NextProbeAt == nil || !seen.NextProbeAt.After(*seen.Since) {
		t.Errorf("the open breaker is shown as %+v", seen)
	}
	one.kill()
	api.await("the dead worker to be forgotten", func() bool { return acme.breaker().State == "CLOSED" })
	r.listen(address)
	start(t, "worker", t.TempDir(), "--nats", server)
	acme.delivered(trigger, homes)
	if b := acme.breaker(); b != (breaker{State: "CLOSED"}) {
		t.Errorf("after the recovery the breaker is %+v", b)
	}
}
