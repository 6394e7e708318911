package events

import (
	"time"

	"github.com/gridhook/gridhook/storage"
)

// HealthState is the health of an endpoint in one word.
type HealthState string

// States of an endpoint's health.
const (
	// HealthUnknown: no attempt was made yet.
	HealthUnknown HealthState = "UNKNOWN"
	// HealthGood: the last attempt succeeded.
	HealthGood HealthState = "HEALTHY"
	// HealthFailing: the last attempt failed.
	HealthFailing HealthState = "FAILING"
)

// Health is an endpoint's recent health.
type Health struct {
	State               HealthState  `json:"state" doc:"UNKNOWN: nothing was sent yet. HEALTHY: the last attempt was successful. FAILING: the last attempts were not." example:"FAILING"`
	LastSuccessAt       storage.Time `json:"lastSuccessAt" nullable:"true" doc:"When the last successful attempt ended. lastSuccessAt and lastFailureAt are null if there was none."`
	LastFailureAt       storage.Time `json:"lastFailureAt" nullable:"true"`
	LastFailure         string       `json:"lastFailure,omitempty" doc:"The reason of the last failure." example:"the endpoint responded 503 Service Unavailable"`
	ConsecutiveFailures int          `json:"consecutiveFailures" doc:"The number of failed requests since the last success; a batch is one request. failingSince is the time of the first." example:"3"`
	FailingSince        storage.Time `json:"failingSince" nullable:"true"`
	LastOutage          *Outage      `json:"lastOutage,omitempty" doc:"The last outage of at least 10 attempts that is over. Absent if there was none."`
}

// Outage is a time in which every attempt failed.
type Outage struct {
	Since    storage.Time `json:"since" doc:"When the first attempt failed."`
	Until    storage.Time `json:"until" doc:"When the first attempt after it succeeded."`
	Failures int          `json:"failures" doc:"The number of failed attempts." example:"31"`
}

// failed returns since when and how long an endpoint has failed. Failures before the
// endpoint's last update do not count, because the update may have fixed the cause.
func (h *Health) failed(e *storage.WebhookEndpoint) (since time.Time, lasted time.Duration) {
	since = storage.Later(h.FailingSince.Time, e.UpdatedAt.Time)
	return since, h.LastFailureAt.Sub(since)
}

// longest returns how long the endpoint failed without a change of its record. A change
// begins the count anew.
func (o *Outage) longest(e *storage.WebhookEndpoint) time.Duration {
	lasted := o.Until.Sub(o.Since.Time)
	if e.UpdatedAt.After(o.Since.Time) && e.UpdatedAt.Before(o.Until.Time) {
		lasted = max(e.UpdatedAt.Sub(o.Since.Time), o.Until.Sub(e.UpdatedAt.Time))
	}
	return lasted
}

// FailedTooLong returns how long an endpoint has failed. over reports whether its
// policy tolerates less.
func (h *Health) FailedTooLong(e *storage.WebhookEndpoint) (lasted time.Duration, over bool) {
	_, lasted = h.failed(e)
	return lasted, e.Enabled && tooLong(e, lasted)
}

func tooLong(e *storage.WebhookEndpoint, lasted time.Duration) bool {
	return e.RetryPolicy.DisableAfterSeconds > 0 && lasted >= e.RetryPolicy.Tolerated()
}

// maxAhead is how far a worker's clock may be ahead of the clock of NATS. Within it the
// times of attempts keep their order.
const maxAhead = 10 * time.Second

// Note adds an attempt to the health. stored is when NATS stored its result. An attempt of
// a worker whose clock was ahead must not outweigh all attempts up to its time. So it gets
// the time stored. Earlier attempts are later only if the clock of NATS was ahead too, and
// then get the time of the new attempt.
func (h *Health) Note(a Attempt, stored time.Time) {
	if a.At.After(stored.Add(maxAhead)) {
		a.At.Time = stored
	}
	for _, at := range []*storage.Time{&h.LastSuccessAt, &h.LastFailureAt, &h.FailingSince} {
		if at.After(stored.Add(ClockTolerance)) {
			*at = a.At
		}
	}
	if a.Outcome == OutcomeDelivered {
		if a.At.After(h.LastSuccessAt.Time) {
			h.LastSuccessAt = a.At
		}
		if !a.At.Before(h.LastFailureAt.Time) {
			if h.ConsecutiveFailures >= storage.LeastFailures {
				h.LastOutage = &Outage{Since: h.FailingSince, Until: a.At, Failures: h.ConsecutiveFailures}
			}
			h.State, h.ConsecutiveFailures, h.FailingSince = HealthGood, 0, storage.Time{}
		}
		return
	}
	if !a.At.Before(h.LastFailureAt.Time) {
		h.LastFailureAt, h.LastFailure = a.At, a.Reason
	}
	if a.At.Before(h.LastSuccessAt.Time) {
		return // a later attempt succeeded
	}
	h.State = HealthFailing
	h.ConsecutiveFailures++
	if h.FailingSince.IsZero() || a.At.Before(h.FailingSince.Time) {
		h.FailingSince = a.At
	}
}
