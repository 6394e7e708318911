package dispatcher

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// metrics returns a worker's counters and gauges by name, each as the sum over its labels.
func (n *node) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := n.Registerer.(*prometheus.Registry).Gather()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			sums[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sums
}

// Deliveries that are postponed because the endpoint is down do not count as outcomes.
func TestMetrics_EndpointDown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2 * events.SliceHomes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(time.Millisecond)
			return http.StatusServiceUnavailable
		})
		n := w.worker()
		w.trigger(24)
		<-time.After(10 * time.Minute)
		m := n.metrics(t)
		if attempts, outcomes := m["gridhook_attempts_total"], m["gridhook_deliveries_total"]; attempts == 0 || outcomes != attempts {
			t.Errorf("%g outcomes of %g attempts", outcomes, attempts)
		}
	})
}

// A panic while a request is in flight ends the request.
func TestMetrics_PanicInFlight(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		n := w.worker()
		synctest.Wait() // until it has started
		sender := n.Sender
		n.Sender = nil
		defer func() { n.Sender = sender }()
		tr := w.trigger(24)
		tr.Change = &events.Change{}
		e := newTarget(storage.DefaultRetryPolicy())
		r := request{
			all:     []job{{Message: webhook.NewNotification(&tr, "sub", "ep", nil), target: e, attempt: 1}},
			results: make([]result, 1), jobs: []int{0}, target: e,
		}
		n.attempt(t.Context(), &r, webhook.GetScratch())
		if reason := r.results[0].delivery.Reason; reason != "an internal error" {
			t.Fatalf("reason is %q, want a panic", reason)
		}
		if inFlight := n.metrics(t)["gridhook_attempts_in_flight"]; inFlight != 0 {
			t.Errorf("%g attempts are in flight, want none", inFlight)
		}
	})
}
