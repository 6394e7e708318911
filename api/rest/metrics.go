package rest

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// unmatched begins the operation label of requests that match no operation.
const unmatched = "unmatched"

// metrics measures requests by operation. The label is the path's template. An identifier
// is never a label.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	// unaudited counts changes without an entry in the audit log.
	unaudited prometheus.Counter
}

// newMetrics registers the metrics. r may be nil.
func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "requests_total",
			Help: "HTTP requests by operation and status code.",
		}, []string{"operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "request_duration_seconds",
			Help:                        "Duration of HTTP requests by operation, in seconds.",
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
			// Few buckets, because each operation has them.
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10},
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "requests_in_flight",
			Help: "HTTP requests in progress.",
		}),
		unaudited: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "audit_failures_total",
			Help: "Changes whose entry the audit log did not store. The entry is in the process's log.",
		}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.duration, m.inFlight, m.unaudited)
	}
	return m
}

// prepare creates an operation's metrics, so that they read 0 before the first request.
func (m *metrics) prepare(operation string) {
	m.duration.WithLabelValues(operation)
	if !strings.HasPrefix(operation, unmatched) {
		m.requests.WithLabelValues(operation, "200")
	}
}

// observe measures a request. The label of an operation is its template.
func (m *metrics) observe(operation string, o *outcome) {
	m.requests.WithLabelValues(operation, strconv.Itoa(o.status)).Inc()
	duration := m.duration.WithLabelValues(operation)
	if o.trace == "" {
		duration.Observe(o.took.Seconds())
		return
	}
	duration.(prometheus.ExemplarObserver).ObserveWithExemplar(o.took.Seconds(), prometheus.Labels{"trace_id": o.trace})
}
