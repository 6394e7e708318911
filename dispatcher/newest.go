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
//
// A signal that comes in its turn is sent all the same until the newer walk has come
// to its slice: otherwise triggers that follow one another faster than a walk takes
// would leave the last homes without any. By triggers and slices, and not by time: the
// clocks of workers may differ.

// newestFor is how long an organization's newest trigger is remembered, so that
// many retries together ask once, and turnFor how long it is that a turn has not been
// lost.
const (
	newestFor = 50 * time.Millisecond
	turnFor   = 50 * time.Millisecond
)

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

// turn is the place of a slice, or of a retry of its homes, in the order of signals.
type turn struct {
	trigger *events.Trigger
	slice   int
	// late says that it is not the slice's first time: it was tried, parked, or
	// handed out before, or its walk began late.
	late bool

	mu sync.Mutex
	at time.Time // when it was looked last
	by *events.Trigger
}

// over is the newer trigger to which the turn is lost, nil when there is none. What it
// found last is good for turnFor.
func (w *Worker) over(ctx context.Context, t *turn) (*events.Trigger, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := w.Now()
	if t.by != nil || !t.at.IsZero() && now.Sub(t.at) <= turnFor {
		return t.by, nil
	}
	by, err := w.supersededBy(ctx, t.trigger)
	if by != nil && !t.late {
		by, err = w.overtakenBy(ctx, t, now)
	}
	if err != nil {
		return nil, err
	}
	t.at, t.by = now, by
	return by, nil
}

// maxOvertaking bounds the newer triggers that are looked at: that many at once are
// nobody's order.
const maxOvertaking = 16

// overtakenBy is a newer trigger whose walk has come to a slice before its turn, nil
// when there is none.
func (w *Worker) overtakenBy(ctx context.Context, t *turn, now time.Time) (*events.Trigger, error) {
	after := t.trigger.Sequence
	for range maxOvertaking {
		newer, err := w.Bus.Next(ctx, t.trigger.OrganizationID, after)
		if err != nil || newer.ID == "" {
			return nil, err
		}
		if newer.Supersedes(t.trigger, now) {
			if reached, err := w.Bus.Reached(ctx, newer, t.slice); reached || err != nil {
				return &newer, err
			}
		}
		after = newer.Sequence
	}
	return nil, nil
}

// lost is the newer trigger to which a job has lost its turn, as it waited or those
// before it took long. What cannot be found out now was good when its slice was taken.
func (w *Worker) lost(ctx context.Context, j *job) *events.Trigger {
	if j.turn == nil {
		return nil
	}
	by, err := w.over(ctx, j.turn)
	if err != nil {
		w.Log.Debug("whether a newer trigger has taken a signal's place cannot be seen now", "trigger", j.trigger.ID, "error", err)
	}
	return by
}

// superseded is the outcome of what a newer trigger has taken the place of.
func (w *Worker) superseded(messageID, homeID, endpointID string, attempts int, by *events.Trigger) events.Delivery {
	return events.Delivery{
		MessageID: messageID, HomeID: homeID, EndpointID: endpointID,
		Outcome: events.OutcomeSuperseded, Attempt: attempts, At: storage.Time{Time: w.Store.Now()},
		Reason: "the newer trigger " + by.ID + " has taken its place",
	}
}
