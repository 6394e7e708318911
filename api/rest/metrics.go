package rest

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// unmatched is the operation label of requests that match no operation.
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
	if operation != unmatched {
		m.requests.WithLabelValues(operation, "200")
	}
}

// measured caches the metrics of one operation.
type measured struct {
	requests *prometheus.CounterVec // by code
	ok       prometheus.Counter     // counter of code 200, created with its first use
	once     sync.Once
	duration prometheus.Observer
}

// of returns the metrics of an operation.
func (m *metrics) of(operation string) *measured {
	return &measured{
		requests: m.requests.MustCurryWith(prometheus.Labels{"operation": operation}),
		duration: m.duration.WithLabelValues(operation),
	}
}

func (m *measured) observe(o *outcome) {
	if o.status == http.StatusOK {
		m.once.Do(func() { m.ok = m.requests.WithLabelValues("200") })
		m.ok.Inc()
	} else {
		m.requests.WithLabelValues(strconv.Itoa(o.status)).Inc()
	}
	if o.trace == "" {
		m.duration.Observe(o.took.Seconds())
		return
	}
	m.duration.(prometheus.ExemplarObserver).ObserveWithExemplar(o.took.Seconds(), prometheus.Labels{"trace_id": o.trace})
}
