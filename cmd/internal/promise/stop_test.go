package promise

import (
	"net/http"
	"syscall"
	"testing"
	"time"
)

// A stopping process is not ready, and waits for its requests in flight. A second signal
// ends it at once. Interrupted deliveries are made after the next start.
func TestStop_SecondSignal(t *testing.T) {
	t.Parallel()
	const homes = 300
	data := t.TempDir()
	p := start(t, "serve", data)
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	acme.register(r, nil)
	r.holdAfter(100)
	trigger := acme.trigger(hour())
	r.wait("requests that hang", func() bool { return r.total > 100 })
	p.signal(syscall.SIGTERM)
	p.waitUnready()
	select {
	case <-p.running.Exited():
		t.Fatal("it did not wait for its requests in flight")
	default:
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.running.Exited():
	case <-time.After(patience):
		t.Fatal("it does not stop")
	}
	// If it had waited for its requests, it would have ended by itself, with an exit code.
	if code := p.running.ExitCode(); code != -1 {
		t.Errorf("it ended after the second signal with exit code %d, want by the signal", code)
	}
	r.release()
	p = start(t, "serve", data)
	acme.api = p.api
	acme.delivered(trigger, homes)
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.running.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// waitUnready waits until a process reports that it is not ready. Its metrics can still be
// read. It has no other pages.
func (p *process) waitUnready() {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		if p.status("/readyz") == http.StatusServiceUnavailable {
			if status := p.status("/metrics"); status != http.StatusOK {
				p.t.Errorf("the metrics of a process that stops have status %d", status)
			}
			if status := p.status("/openapi.json"); status != http.StatusServiceUnavailable {
				p.t.Errorf("another page of a process that stops has status %d", status)
			}
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatal("the process is still ready")
		}
	}
}

// status returns the status of a page of the admin listener.
func (p *process) status(path string) int {
	p.t.Helper()
	response, err := http.Get(p.admin + path)
	if err != nil {
		p.t.Fatalf("the admin listener of a process that stops: %v", err)
	}
	response.Body.Close()
	return response.StatusCode
}
