package events

import (
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// BreakerState says whether the workers try an endpoint.
type BreakerState string

// The states of breakers.
const (
	// BreakerClosed: homes are sent as they come.
	BreakerClosed BreakerState = "CLOSED"
	// BreakerOpen: nothing is tried until the next probe.
	BreakerOpen BreakerState = "OPEN"
	// BreakerHalfOpen: the time of a probe has come, and a single attempt decides.
	BreakerHalfOpen BreakerState = "HALF_OPEN"
)

// BreakerStates are all states.
func BreakerStates() []BreakerState {
	return []BreakerState{BreakerClosed, BreakerOpen, BreakerHalfOpen}
}

// Breaker is how the workers stand to an endpoint, all of them together.
type Breaker struct {
	State BreakerState `json:"state"`
	// Since is when the first of them stopped trying, null while it is CLOSED.
	Since storage.Time `json:"since"`
	// NextProbeAt is when the first of them tries again, null while it is CLOSED.
	NextProbeAt storage.Time `json:"nextProbeAt"`
	// Workers is how many of them have stopped: each finds out for itself.
	Workers int `json:"workers"`
}

// OpenBreaker is one worker's breaker that is not closed.
type OpenBreaker struct {
	OrganizationID string       `json:"organizationId"`
	EndpointID     string       `json:"endpointId"`
	Since          storage.Time `json:"since"`
	ProbeAt        storage.Time `json:"probeAt"`
}

// BreakerReport is what one worker tells of all its breakers that are not closed. It
// is told anew all the time and stored nowhere.
type BreakerReport struct {
	Worker string        `json:"worker"`
	Open   []OpenBreaker `json:"open"`
}

// ReportEvery is how often a worker tells, and reportStands how long it counts: what
// a worker that has died told is forgotten then.
const (
	ReportEvery  = time.Second
	reportStands = 5 * ReportEvery
)

// Breakers are the reports of all workers, for those who ask how an endpoint does. The
// zero value is ready.
type Breakers struct {
	mu      sync.Mutex
	reports map[string]breakerReport
}

type breakerReport struct {
	at   time.Time
	open map[storage.Ref]OpenBreaker
}

// Take takes a report that came at a time, in place of the one before of its worker.
func (b *Breakers) Take(r BreakerReport, at time.Time) {
	open := make(map[storage.Ref]OpenBreaker, len(r.Open))
	for _, o := range r.Open {
		open[storage.WebhookEndpointRef(o.OrganizationID, o.EndpointID)] = o
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reports == nil {
		b.reports = map[string]breakerReport{}
	}
	for worker, before := range b.reports {
		if at.Sub(before.at) > reportStands {
			delete(b.reports, worker)
		}
	}
	b.reports[r.Worker] = breakerReport{at, open}
}

// Of is how the workers stand to an endpoint.
func (b *Breakers) Of(org, endpointID string, now time.Time) Breaker {
	ref, all := storage.WebhookEndpointRef(org, endpointID), Breaker{State: BreakerClosed}
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
