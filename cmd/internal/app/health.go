package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/events/jetstream"
)

// These limits decide the readiness.
const (
	// staleAfter is the time without a response from NATS after which the process is not
	// ready.
	staleAfter = 6 * time.Second
	// behindAfter is the replica's lag after which the process is not ready.
	behindAfter = 10 * time.Second
)

// health holds the readiness of the process and the last known depth of the queues. The
// zero value is a process that starts.
type health struct {
	phase atomic.Value // "running" or "stopping", nil while the process starts

	mu          sync.Mutex
	depth       jetstream.Depth
	lag         uint64
	answered    time.Time
	behindSince time.Time
}

// update stores the result of an inspection of NATS. revision is the replica's.
func (h *health) update(d jetstream.Depth, revision uint64, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered, h.depth, h.lag = now, d, max(d.State, revision)-revision
	switch {
	case h.lag == 0:
		h.behindSince = time.Time{}
	case h.behindSince.IsZero():
		h.behindSince = now
	}
}

// queues returns the depth of the queues and the replica's lag at the last inspection.
func (h *health) queues() (d jetstream.Depth, lag uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.depth, h.lag
}

// problem returns the reason why the process is not ready, or "" if it is ready.
func (h *health) problem(now time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch phase, _ := h.phase.Load().(string); {
	case phase != "running":
		return "the process is " + cmp.Or(phase, "starting")
	case h.answered.IsZero():
		return "NATS has not responded to the first inspection: see the log"
	case now.Sub(h.answered) > staleAfter:
		return fmt.Sprintf("NATS has not responded for %s", now.Sub(h.answered).Round(time.Second))
	case !h.behindSince.IsZero() && now.Sub(h.behindSince) > behindAfter:
		return fmt.Sprintf("the replica has been behind the log of record for %s", now.Sub(h.behindSince).Round(time.Second))
	}
	return ""
}

// unready returns the reason why the process is not ready, or "" if it is ready.
func (a *App) unready(now time.Time) string {
	if !a.conn.Connected() {
		if err := a.conn.LastError(); err != nil {
			return fmt.Sprintf("NATS is not connected: %s", err)
		}
		return "NATS is not connected"
	}
	reason := cmp.Or(a.health.problem(now), a.guard.problem())
	if reason == "" && a.conn.SettingUp() {
		reason = "NATS has not set up a queue of this process: see the log"
	}
	return reason
}

// readyz responds 200 if the process can accept requests and deliveries now.
func (a *App) readyz(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, "ready", "not ready", a.unready(time.Now()))
}

// livez responds 200 unless a part of the process has failed.
func (a *App) livez(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, "alive", "failed", sentence(context.Cause(a.failed)))
}

// writeHealth responds 200 with the status good, or 503 with the status bad if there is a
// reason for it.
func writeHealth(w http.ResponseWriter, good, bad, reason string) {
	code, body := http.StatusOK, map[string]string{"status": good}
	if reason != "" {
		code, body = http.StatusServiceUnavailable, map[string]string{"status": bad, "reason": reason}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the peer may be gone
}
