package promise

import (
	"net/http"
	"testing"
)

// TestFleet_WorkerKilled runs one api and two workers on a real nats-server. A kill of
// one worker loses nothing, and a new worker catches up by itself.
func TestFleet_WorkerKilled(t *testing.T) {
	t.Parallel()
	const homes = 2000
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	first := start(t, "worker", t.TempDir(), "--nats", server, "--slices", "4")
	start(t, "worker", t.TempDir(), "--nats", server, "--slices", "4")
	acme := furnish(t, api, homes)
	r := newReceiver(t)
	acme.register(r, nil)
	r.holdAfter(homes / 2)
	trigger := acme.trigger(hour())
	r.wait("half of the walk", func() bool { return r.total > r.holdFrom })
	first.kill()
	r.release()
	late := start(t, "worker", t.TempDir(), "--nats", server)
	acme.delivered(trigger, homes)
	repeats := r.check(homes)
	t.Logf("one of two workers killed: %d deliveries repeated", repeats)
	if repeats > (4+8)*64 {
		t.Errorf("%d deliveries were repeated, more than the killed worker's 4 slices and 8 slow ones", repeats)
	}
	// The new worker alone walks the next trigger, on its own replica.
	waitReady(t, late)
	second := acme.trigger(hour())
	acme.delivered(second, homes)
}

// waitReady waits until a process reports that it is ready.
func waitReady(t *testing.T, p *process) {
	t.Helper()
	poll(t, func() bool {
		status, _ := readiness(t, p)
		return status == http.StatusOK
	})
}
