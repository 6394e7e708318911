package events

import "github.com/gridhook/gridhook/storage"

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

// HealthStates returns all states.
func HealthStates() []HealthState { return []HealthState{HealthUnknown, HealthGood, HealthFailing} }

// Health is an endpoint's recent health.
type Health struct {
	State               HealthState  `json:"state" doc:"UNKNOWN where nothing was sent yet, HEALTHY where the last attempt was successful, FAILING where the last ones were not." example:"FAILING"`
	LastSuccessAt       storage.Time `json:"lastSuccessAt" nullable:"true" doc:"lastSuccessAt and lastFailureAt are null where there was none."`
	LastFailureAt       storage.Time `json:"lastFailureAt" nullable:"true"`
	LastFailure         string       `json:"lastFailure,omitempty" doc:"lastFailure says in words what the last failure was." example:"the endpoint responded 503 Service Unavailable"`
	ConsecutiveFailures int          `json:"consecutiveFailures" doc:"consecutiveFailures counts the requests that failed since the last success (a batch is one request), and failingSince is when the first of them did." example:"3"`
	FailingSince        storage.Time `json:"failingSince" nullable:"true"`
}

// Note adds an attempt to the health.
func (h *Health) Note(a *Attempt) {
	if a.Outcome == OutcomeDelivered {
		if a.At.After(h.LastSuccessAt.Time) {
			h.LastSuccessAt = a.At
		}
		if !a.At.Before(h.LastFailureAt.Time) {
			h.State, h.ConsecutiveFailures, h.FailingSince = HealthGood, 0, storage.Time{}
		}
		return
	}
	if a.At.After(h.LastFailureAt.Time) {
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
