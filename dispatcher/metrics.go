package dispatcher

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
)

// metrics are a worker's metrics. No label has a home, an endpoint or an organization,
// because their number is unbounded.
type metrics struct {
	triggers         prometheus.Counter
	homesWalked      prometheus.Counter
	deliveries       *prometheus.CounterVec
	attempts         *prometheus.CounterVec
	attemptSeconds   prometheus.Histogram
	retriesScheduled prometheus.Counter
	walksParked      prometheus.Counter
	homesFailed      prometheus.Counter
	failures         prometheus.Counter
	deadLetters      prometheus.Counter
	notices          *prometheus.CounterVec
	channels         *prometheus.CounterVec
	inFlight         prometheus.Gauge
	slicesInFlight   prometheus.Gauge
}

// newMetrics registers the metrics. down counts the endpoints that are down.
func newMetrics(r prometheus.Registerer, down func() int) *metrics {
	f := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "gridhook", Name: "endpoints_down", Help: "Endpoints whose breaker is open at this worker.",
	}, func() float64 { return float64(down()) })
	ends := []events.Outcome{events.OutcomeDelivered, events.OutcomeRetrying, events.OutcomeFailed}
	return &metrics{
		triggers:    counter("triggers_started_total", "Triggers whose walk this worker started."),
		homesWalked: counter("homes_walked_total", "Homes that this worker walked."),
		deliveries:  counters(f, "deliveries_total", "Delivery outcomes by outcome, one for each home, endpoint and attempt.", "outcome", events.Outcomes()),
		attempts:    counters(f, "attempts_total", "Webhook requests by class of response.", "class", []string{"2xx", "3xx", "4xx", "5xx", "timeout", "connection", "token"}),
		attemptSeconds: f.NewHistogram(prometheus.HistogramOpts{
			Namespace: "gridhook", Name: "attempt_duration_seconds", Help: "Duration of webhook requests, response included, in seconds.",
			Buckets:                     []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
		}),
		retriesScheduled: counter("retries_scheduled_total", "Scheduled retry messages. A message may contain several homes that failed together."),
		walksParked:      counter("walks_parked_total", "Parked slices of walks whose endpoints were all down, silent or at their limit of waiting slices, or whose organization has no room for outcomes."),
		homesFailed:      counter("homes_failed_total", "Homes without a signal because a stored record does not decode or pricing failed."),
		failures:         counter("messages_failed_total", "Failures of slices and retries by themselves, not because the store or NATS was unavailable."),
		deadLetters:      counter("dead_letters_total", "Slices and retries that failed each time and became dead letters."),
		notices:          counters(f, "notice_attempts_total", "Attempts to send a notice to an endpoint, by outcome.", "outcome", ends),
		channels:         counters(f, "channel_attempts_total", "Attempts to send a notice to a notification channel, by outcome.", "outcome", ends),
		inFlight:         gauge("attempts_in_flight", "Webhook requests in flight."),
		slicesInFlight:   gauge("slices_in_flight", "Slices in progress."),
	}
}

// counters registers a counter for each value of a label.
func counters[V ~string](f promauto.Factory, name, help, label string, values []V) *prometheus.CounterVec {
	c := f.NewCounterVec(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help}, []string{label})
	for _, value := range values {
		c.WithLabelValues(string(value))
	}
	return c
}

// count counts outcomes. A postponement without a request is no outcome, and neither is a
// request that the worker's stop cut off.
func (m *metrics) count(deliveries []events.Delivery) {
	counts := map[events.Outcome]int{}
	for i := range deliveries {
		d := &deliveries[i]
		if last := d.Last(); d.Outcome == events.OutcomeRetrying && !last.Counts() {
			continue
		}
		counts[d.Outcome]++
	}
	for outcome, n := range counts {
		m.deliveries.WithLabelValues(string(outcome)).Add(float64(n))
	}
}

func (m *metrics) attempted(a *send.Attempt) {
	if a.TraceID.IsValid() {
		exemplar := prometheus.Labels{"trace_id": a.TraceID.String()}
		m.attemptSeconds.(prometheus.ExemplarObserver).ObserveWithExemplar(a.Took.Seconds(), exemplar)
	} else {
		m.attemptSeconds.Observe(a.Took.Seconds())
	}
	m.attempts.WithLabelValues(class(a)).Inc()
}

// class returns the class of an attempt. Without a token no request was made.
func class(a *send.Attempt) string {
	switch c := a.ErrorClass(); c {
	case "":
		return "2xx"
	case events.ErrorStatus:
		if a.Status/100 == 3 || a.Status/100 == 4 {
			return strconv.Itoa(a.Status/100) + "xx"
		}
		return "5xx" // also an unknown status
	case events.ErrorToken, events.ErrorTimeout:
		return string(c)
	}
	return "connection"
}
