package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events/jetstream"
)

// These are the intervals of the health watch.
const (
	healthEvery = 2 * time.Second
	healthWait  = 2 * time.Second
	// staleAfter is the time without a response from NATS after which the process is not
	// ready.
	staleAfter = 3 * healthEvery
	// behindAfter is the replica's lag after which the process is not ready.
	behindAfter = 10 * time.Second
)

// health holds the readiness of the process and the queue metrics.
type health struct {
	app *App

	queuedSlices, retriesPending, unstarted, replicaLag, deadLetters prometheus.Gauge

	mu          sync.Mutex
	phase       string // "starting", "running", "stopping"
	answered    time.Time
	behindSince time.Time
}

// watchHealth checks NATS and the replica periodically.
func (a *App) watchHealth(ctx context.Context) error {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "gridhook", Name: name, Help: help})
		a.Registry.MustRegister(g)
		return g
	}
	a.health = &health{
		app: a, phase: "starting",
		queuedSlices:   gauge("queue_slices", "Slices queued or in flight in the fleet."),
		retriesPending: gauge("retries_pending", "Retry messages that wait or are due in the fleet."),
		unstarted:      gauge("triggers_unstarted", "Accepted triggers whose walk has not begun."),
		deadLetters:    gauge("dead_letters", "Messages that could not be processed."),
		replicaLag:     gauge("replica_lag_revisions", "Revisions of the log of record that this process's replica has not applied."),
	}
	a.health.look(ctx)
	a.watchStanding()
	a.run("the health watch", func(ctx context.Context) error { return every(ctx, healthEvery, a.health.look) })
	return nil
}

func (h *health) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	depth, err := h.app.conn.Depth(ctx)
	if err != nil {
		if ctx.Err() == nil {
			h.app.Log.Warn("queue depth unavailable", "error", err)
		}
		return
	}
	h.saw(depth, h.app.replica.Revision(), time.Now())
}

func (h *health) saw(d jetstream.Depth, revision uint64, now time.Time) {
	h.queuedSlices.Set(float64(d.Slices))
	h.retriesPending.Set(float64(d.RetriesWaiting))
	h.unstarted.Set(float64(d.Unstarted))
	h.deadLetters.Set(float64(d.DeadLetters))
	lag := max(d.State, revision) - revision
	h.replicaLag.Set(float64(lag))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered = now
	switch {
	case lag == 0:
		h.behindSince = time.Time{}
	case h.behindSince.IsZero():
		h.behindSince = now
	}
}

func (h *health) started() { h.enter("running") }

func (h *health) stopping() { h.enter("stopping") }

func (h *health) enter(phase string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = phase
}

// problem returns the reason why the process is not ready, or "" if it is ready.
func (h *health) problem(now time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.phase != "running":
		return "the process is " + h.phase
	case !h.app.conn.Connected():
		return "NATS is not connected"
	case now.Sub(h.answered) > staleAfter:
		return fmt.Sprintf("NATS has not responded for %s", now.Sub(h.answered).Round(time.Second))
	case !h.behindSince.IsZero() && now.Sub(h.behindSince) > behindAfter:
		return fmt.Sprintf("the replica has been behind the log of record for %s", now.Sub(h.behindSince).Round(time.Second))
	}
	return h.app.guard.problem()
}

// readyz responds 200 if the process can accept requests and deliveries now.
func (h *health) readyz(w http.ResponseWriter, _ *http.Request) {
	if why := h.problem(time.Now()); why != "" {
		answerJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "not ready", "reason": why})
		return
	}
	answerJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// livez responds 200 unless a part of the process has failed.
func (h *health) livez(w http.ResponseWriter, _ *http.Request) {
	if err := context.Cause(h.app.failed); err != nil {
		answerJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "failed", "reason": err.Error()})
		return
	}
	answerJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the peer may be gone
}
