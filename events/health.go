package events

import "github.com/gridhook/gridhook/storage"

// HealthState says in a word how an endpoint does.
type HealthState string

// The states of endpoints.
const (
	// HealthUnknown: nothing has been sent to it.
	HealthUnknown HealthState = "UNKNOWN"
	// HealthGood: the last attempt was successful.
	HealthGood HealthState = "HEALTHY"
	// HealthFailing: the last attempts were not.
	HealthFailing HealthState = "FAILING"
)

// HealthStates are all states.
func HealthStates() []HealthState { return []HealthState{HealthUnknown, HealthGood, HealthFailing} }

// Health is how an endpoint has done of late.
type Health struct {
	State HealthState `json:"state"`
	// LastSuccessAt and LastFailureAt are null where there was none.
	LastSuccessAt storage.Time `json:"lastSuccessAt"`
	LastFailureAt storage.Time `json:"lastFailureAt"`
	// LastFailure says in words what the last failure was.
	LastFailure string `json:"lastFailure,omitempty"`
	// ConsecutiveFailures counts the attempts that failed since the last success,
	// and FailingSince is when the first of them did.
	ConsecutiveFailures int          `json:"consecutiveFailures"`
	FailingSince        storage.Time `json:"failingSince"`
}

// Note adds an attempt.
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
		return // it has succeeded since
	}
	h.State = HealthFailing
	h.ConsecutiveFailures++
	if h.FailingSince.IsZero() || a.At.Before(h.FailingSince.Time) {
		h.FailingSince = a.At
	}
}
