package events

import (
	"maps"
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// BreakerState says whether the workers attempt deliveries to an endpoint.
type BreakerState string

// States of a breaker.
const (
	// BreakerClosed: workers send normally.
	BreakerClosed BreakerState = "CLOSED"
	// BreakerOpen: workers attempt nothing until the next probe.
	BreakerOpen BreakerState = "OPEN"
	// BreakerHalfOpen: a probe is due, and its result decides the next state.
	BreakerHalfOpen BreakerState = "HALF_OPEN"
)

// Breaker is the combined state of all workers' breakers for an endpoint.
type Breaker struct {
	State       BreakerState `json:"state" doc:"CLOSED: workers send deliveries. OPEN: workers send nothing. HALF_OPEN: one attempt is due that decides between the two." example:"OPEN"`
	Since       storage.Time `json:"since" nullable:"true" doc:"When the first worker opened its breaker. null if the state is CLOSED."`
	NextProbeAt storage.Time `json:"nextProbeAt" nullable:"true" doc:"When the first worker makes its next attempt. null if the state is CLOSED."`
	Workers     int          `json:"workers" doc:"The number of workers with an open breaker. Each worker has its own." example:"1"`
}

// OpenBreaker is a breaker of one worker that is not closed.
type OpenBreaker struct {
	OrganizationID string `json:"organizationId"`
	// EndpointID is the breaker's identifier: see storage.WebhookEndpoint.BreakerID.
	EndpointID string       `json:"endpointId"`
	Since      storage.Time `json:"since"`
	ProbeAt    storage.Time `json:"probeAt"`
}

// BreakerReport lists a worker's breakers that are not closed. Workers repeat it
// periodically, and no stream stores it.
type BreakerReport struct {
	Worker string        `json:"worker"`
	Open   []OpenBreaker `json:"open"`
}

// ReportEvery is the interval between a worker's reports. A report expires after
// reportStands, so a dead worker's report does not linger.
const (
	ReportEvery  = time.Second
	reportStands = 5 * ReportEvery
)

// Breakers holds the latest report of every worker. The zero value is ready to use.
type Breakers struct {
	mu      sync.Mutex
	reports map[string]breakerReport
}

type breakerReport struct {
	at   time.Time
	open map[storage.Ref]OpenBreaker
}

// Add stores a report received at a time and replaces the worker's previous report.
func (b *Breakers) Add(r BreakerReport, at time.Time) {
	open := make(map[storage.Ref]OpenBreaker, len(r.Open))
	for _, o := range r.Open {
		open[storage.KindWebhookEndpoint.Ref(o.OrganizationID, o.EndpointID)] = o
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reports == nil {
		b.reports = map[string]breakerReport{}
	}
	maps.DeleteFunc(b.reports, func(_ string, before breakerReport) bool { return at.Sub(before.at) > reportStands })
	b.reports[r.Worker] = breakerReport{at, open}
}

// State returns the combined state of an organization's breaker.
func (b *Breakers) State(org, breakerID string, now time.Time) Breaker {
	ref, all := storage.KindWebhookEndpoint.Ref(org, breakerID), Breaker{State: BreakerClosed}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.reports {
		o, ok := r.open[ref]
		if !ok || now.Sub(r.at) > reportStands {
			continue
		}
		if all.Workers++; all.Workers == 1 || o.Since.Before(all.Since.Time) {
			all.Since = o.Since
		}
		if all.Workers == 1 || o.ProbeAt.Before(all.NextProbeAt.Time) {
			all.NextProbeAt = o.ProbeAt
		}
	}
	switch {
	case all.Workers == 0:
	case now.Before(all.NextProbeAt.Time):
		all.State = BreakerOpen
	default:
		all.State = BreakerHalfOpen
	}
	return all
}
