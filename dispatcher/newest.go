package dispatcher

import (
	"context"
	"sync"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A price signal is a state: what counts is the newest. Once a newer trigger of
// the organization is accepted for what is left of a signal's window, the older
// signal is not tried again: the newer one will reach every home, or say why not.

// newestFor is how long an organization's newest trigger is remembered, so that
// many retries together ask once.
const newestFor = 100 * time.Millisecond

// newest remembers the newest triggers of organizations.
type newest struct {
	mu   sync.Mutex
	seen map[string]newestSeen
}

type newestSeen struct {
	trigger events.Trigger
	at      time.Time
}

// maxNewest bounds the organizations that are remembered.
const maxNewest = 4096

// supersededBy is the newer trigger that has taken a trigger's place, nil when
// there is none.
func (w *Worker) supersededBy(ctx context.Context, t *events.Trigger) (*events.Trigger, error) {
	now := w.Now()
	w.newest.mu.Lock()
	have, ok := w.newest.seen[t.OrganizationID]
	w.newest.mu.Unlock()
	if !ok || now.Sub(have.at) > newestFor || now.Before(have.at) {
		found, err := w.Bus.Newest(ctx, t.OrganizationID)
		if err != nil {
			return nil, err
		}
		have = newestSeen{found, now}
		w.newest.mu.Lock()
		if len(w.newest.seen) >= maxNewest {
			clear(w.newest.seen)
		}
		w.newest.seen[t.OrganizationID] = have
		w.newest.mu.Unlock()
	}
	if !have.trigger.Supersedes(t, now) {
		return nil, nil
	}
	return &have.trigger, nil
}

// superseded is the outcome of what a newer trigger has taken the place of.
func (w *Worker) superseded(messageID, homeID, endpointID string, attempts int, by *events.Trigger) events.Delivery {
	return events.Delivery{
		MessageID: messageID, HomeID: homeID, EndpointID: endpointID,
		Outcome: events.OutcomeSuperseded, Attempt: attempts, At: storage.Time{Time: w.Store.Now()},
		Reason: "the newer trigger " + by.ID + " has taken its place",
	}
}
