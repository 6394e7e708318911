package rest

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// unmatched begins the operation label of requests that match no operation.
const unmatched = "unmatched"

// metrics counts requests by operation. The label is the path's template. An identifier
// is never a label. The duration has no such label: with it, the buckets of all operations
// were most of a process's series. The log has the duration of each request.
type metrics struct {
	requests *prometheus.CounterVec
	duration prometheus.Histogram
	inFlight prometheus.Gauge
	// unaudited counts changes without an entry in the audit log.
	unaudited prometheus.Counter
}

// newMetrics registers the metrics. r may be nil.
func newMetrics(r prometheus.Registerer) *metrics {
	register := promauto.With(r)
	return &metrics{
		requests: register.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "requests_total",
			Help: "HTTP requests by operation and status code.",
		}, []string{"operation", "code"}),
		duration: register.NewHistogram(prometheus.HistogramOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "request_duration_seconds",
			Help:                        "Duration of HTTP requests, in seconds.",
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10},
		}),
		inFlight: register.NewGauge(prometheus.GaugeOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "requests_in_flight",
			Help: "HTTP requests in progress.",
		}),
		unaudited: register.NewCounter(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "audit_failures_total",
			Help: "Changes whose entry the audit log did not store. The entry is in the process's log.",
		}),
	}
}

// observe measures a request. The label of an operation is its template.
func (m *metrics) observe(operation string, o *outcome) {
	m.requests.WithLabelValues(operation, strconv.Itoa(o.status)).Inc()
	if o.trace == "" {
		m.duration.Observe(o.took.Seconds())
		return
	}
	m.duration.(prometheus.ExemplarObserver).ObserveWithExemplar(o.took.Seconds(), prometheus.Labels{"trace_id": o.trace})
}
