package promise

import (
	"testing"
	"time"
)

// breaker is an endpoint's as the operation answers it.
type breaker struct {
	State              string
	Since, NextProbeAt *time.Time
	Workers            int
}

// breaker is that of the organization's one endpoint.
func (p *partner) breaker() breaker {
	p.t.Helper()
	list := decode[struct{ Data []struct{ Breaker breaker } }](p.t, string(p.call("/v1/webhook/endpoints/list", map[string]any{})))
	if len(list.Data) != 1 {
		p.t.Fatalf("there are %d endpoints", len(list.Data))
	}
	return list.Data[0].Breaker
}

// An api tells of an endpoint that nobody answers at what its workers, which are other
// processes, know: that they stopped trying, that one of them died, and that it is back.
func TestBreaker_Shown(t *testing.T) {
	t.Parallel()
	const homes = 2000
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	one := start(t, "worker", t.TempDir(), "--nats", server)
	acme := furnish(t, api, homes)
	r := newReceiver(t)
	address := freeAddress(t)
	r.url = "http://" + address
	acme.register(r, map[string]any{"initialSeconds": 4, "multiplier": 1, "maxSeconds": 4, "giveUpSeconds": 3600})
	if b := acme.breaker(); b != (breaker{State: "CLOSED"}) {
		t.Errorf("before anything is sent the breaker is %+v", b)
	}
	began := time.Now()
	trigger := acme.trigger()
	var seen breaker
	api.await("the breaker to be open", func() bool { seen = acme.breaker(); return seen.State == "OPEN" })
	if seen.Workers != 1 || seen.Since == nil || seen.Since.Before(began.Add(-time.Second)) || seen.NextProbeAt == nil || !seen.NextProbeAt.After(*seen.Since) {
		t.Errorf("the open breaker is told as %+v", seen)
	}
	one.kill()
	api.await("the dead worker to be forgotten", func() bool { return acme.breaker().State == "CLOSED" })
	r.listen(address)
	start(t, "worker", t.TempDir(), "--nats", server)
	acme.delivered(trigger, homes)
	if b := acme.breaker(); b != (breaker{State: "CLOSED"}) {
		t.Errorf("once it is back the breaker is %+v", b)
	}
}
