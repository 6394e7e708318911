package api

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// unmatched is the operation of requests that name none.
const unmatched = "unmatched"

// metrics measure requests by operation, which is the path's template: no
// identifier is ever a label.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// newMetrics registers the metrics; r may be nil.
func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "requests_total",
			Help: "Requests answered, by operation and HTTP status code.",
		}, []string{"operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "request_duration_seconds",
			Help:                        "How long requests took to answer, by operation.",
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 25},
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "gridhook", Subsystem: "http", Name: "requests_in_flight",
			Help: "Requests being answered now.",
		}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.duration, m.inFlight)
	}
	return m
}

// prepare makes an operation's labels, so that they read 0 before its first use.
func (m *metrics) prepare(operation string) {
	m.duration.WithLabelValues(operation)
	if operation != unmatched {
		m.requests.WithLabelValues(operation, "200")
	}
}

// begin counts a request in, and the returned function out.
func (m *metrics) begin() (end func()) {
	m.inFlight.Inc()
	return m.inFlight.Dec
}

func (m *metrics) observe(operation string, o *outcome) {
	m.requests.WithLabelValues(operation, strconv.Itoa(o.status)).Inc()
	duration := m.duration.WithLabelValues(operation)
	if o.trace == "" {
		duration.Observe(o.took.Seconds())
		return
	}
	duration.(prometheus.ExemplarObserver).ObserveWithExemplar(o.took.Seconds(), prometheus.Labels{"trace_id": o.trace})
}
