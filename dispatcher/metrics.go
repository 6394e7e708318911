package dispatcher

import (
	"github.com/prometheus/client_golang/prometheus"

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

// Classes of attempts.
const (
	classSuccess     = "2xx"
	classRedirect    = "3xx"
	classClientError = "4xx"
	classServerError = "5xx"
	classTimeout     = "timeout"
	classConnection  = "connection"
	classToken       = "token" // no token, so no request was made
)

// newMetrics registers the metrics. down counts the endpoints that are down.
func newMetrics(r prometheus.Registerer, down func() int) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	m := &metrics{
		triggers:    counter("triggers_started_total", "Triggers whose walk this worker started."),
		homesWalked: counter("homes_walked_total", "Homes that this worker walked."),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "deliveries_total", Help: "Delivery outcomes by outcome, one for each home, endpoint and attempt.",
		}, []string{"outcome"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "attempts_total", Help: "Webhook requests by class of response.",
		}, []string{"class"}),
		attemptSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "gridhook", Name: "attempt_duration_seconds", Help: "Duration of webhook requests, response included, in seconds.",
			Buckets:                     []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
		}),
		retriesScheduled: counter("retries_scheduled_total", "Scheduled retry messages. A message may contain several homes that failed together."),
		walksParked:      counter("walks_parked_total", "Parked slices of walks whose endpoints were all down, silent or at their limit of waiting slices."),
		homesFailed:      counter("homes_failed_total", "Homes without a signal because a stored record does not decode or pricing failed."),
		failures:         counter("messages_failed_total", "Failures of slices and retries by themselves, not because the store or NATS was unavailable."),
		deadLetters:      counter("dead_letters_total", "Slices and retries that failed each time and became dead letters."),
		notices: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "notice_attempts_total", Help: "Attempts to send a notice to an endpoint, by outcome.",
		}, []string{"outcome"}),
		channels: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "channel_attempts_total", Help: "Attempts to send a notice to a notification channel, by outcome.",
		}, []string{"outcome"}),
		inFlight:       gauge("attempts_in_flight", "Webhook requests in flight."),
		slicesInFlight: gauge("slices_in_flight", "Slices in progress."),
	}
	r.MustRegister(m.triggers, m.homesWalked, m.deliveries, m.attempts, m.attemptSeconds,
		m.retriesScheduled, m.walksParked, m.homesFailed, m.failures, m.deadLetters, m.notices, m.channels, m.inFlight, m.slicesInFlight)
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "gridhook", Name: "endpoints_down", Help: "Endpoints whose breaker is open at this worker.",
	}, func() float64 { return float64(down()) }))
	for _, o := range events.Outcomes() {
		m.deliveries.WithLabelValues(string(o))
	}
	for _, o := range []events.Outcome{events.OutcomeDelivered, events.OutcomeRetrying, events.OutcomeFailed} {
		m.notices.WithLabelValues(string(o))
		m.channels.WithLabelValues(string(o))
	}
	for _, c := range []string{classSuccess, classRedirect, classClientError, classServerError, classTimeout, classConnection, classToken} {
		m.attempts.WithLabelValues(c)
	}
	return m
}

func (m *metrics) count(deliveries []events.Delivery) {
	counts := map[events.Outcome]int{}
	for i := range deliveries {
		counts[deliveries[i].Outcome]++
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

func class(a *send.Attempt) string {
	switch a.ErrorClass() {
	case "":
		return classSuccess
	case events.ErrorStatus:
		switch a.Status / 100 {
		case 3:
			return classRedirect
		case 4:
			return classClientError
		}
		return classServerError
	case events.ErrorToken:
		return classToken
	case events.ErrorTimeout:
		return classTimeout
	}
	return classConnection
}
