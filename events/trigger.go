package events

import (
	"errors"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Trigger asks for the price signal of every home that an organization has at
// one moment. Once accepted it is walked to its end.
type Trigger struct {
	ID             string `json:"triggerId"`
	OrganizationID string `json:"organizationId"`
	// Start and End are the window of the signals, on the quarter-hour grid.
	Start storage.Time `json:"startTime"`
	End   storage.Time `json:"endTime"`
	// RatePlanIDs are the plans whose homes alone are meant, empty for all homes.
	RatePlanIDs []string `json:"ratePlanIds,omitempty"`
	// Homes is how many homes the organization had at Revision, of those meant.
	Homes int `json:"homes"`
	// Revision is the state that the API had seen. A worker walks the homes
	// that existed at it, once its own replica is at least there.
	Revision uint64 `json:"revision"`
	// CreatedAt is when the trigger was accepted. It is also the time that the
	// webhooks carry, so that every attempt has the same body.
	CreatedAt storage.Time `json:"createdAt"`
	// RequestID is the API request that asked for it.
	RequestID string `json:"requestId,omitempty"`
	// OnceKey names the request among those of the organization that its caller
	// may repeat, empty for one that is made but once. Fingerprint tells
	// whether a repeat is the same request.
	OnceKey     string `json:"onceKey,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Traceparent is the place in a trace that the walk belongs to, empty where
	// nothing is traced. It has no part in what is sent.
	Traceparent Traceparent `json:"traceparent,omitempty"`
	// ScheduleID is the schedule that asked for it, empty where a caller did.
	ScheduleID string `json:"scheduleId,omitempty"`
	// Follows is the sequence of the last trigger of a schedule that runs when prices
	// change, for the next one: it is accepted only if no other has come in between. It
	// is not in the stored form.
	Follows uint64 `json:"-"`
	// RetriedAt is set on the retries of deliveries that were taken up again by
	// hand: it is when that was. What counts from the trigger counts from then.
	RetriedAt storage.Time `json:"retriedAt,omitzero"`
	// Sequence is the trigger's place in the log of triggers. It is not in the
	// stored form: whoever reads the log sets it. A home's newest signal is the
	// one of the highest sequence.
	Sequence uint64 `json:"-"`
}

// NewTrigger makes a trigger with a fresh identifier.
func NewTrigger(org string, w pricing.Window, now time.Time) Trigger {
	return Trigger{
		ID: storage.NewID("trg_", now), OrganizationID: org,
		Start: storage.Time{Time: w.Start}, End: storage.Time{Time: w.End},
		CreatedAt: storage.Time{Time: now.UTC().Truncate(time.Millisecond)},
	}
}

// AlreadyAccepted is the error of accepting a trigger again under the OnceKey of
// one that was accepted less than storage.OnceFor before.
type AlreadyAccepted struct {
	// First is the trigger that stands.
	First Trigger
}

func (e *AlreadyAccepted) Error() string {
	return "the trigger " + e.First.ID + " was accepted for this request already"
}

// Window is the window of the signals.
func (t *Trigger) Window() pricing.Window {
	return pricing.Window{Start: t.Start.Time, End: t.End.Time}
}

// ErrWindow is the error of a trigger whose window nobody can have asked for. Walking it
// might take for ever: a window from the year 1 has 71 million intervals for each home.
var ErrWindow = errors.New("events: the trigger's window is not one that can be asked for")

// Check refuses a trigger that was damaged or forged on its way. The error is ErrWindow.
func (t *Trigger) Check() error {
	if !t.Window().Askable() {
		return ErrWindow
	}
	return nil
}

// Means reports whether a trigger means the homes on a rate plan.
func (t *Trigger) Means(ratePlanID string) bool {
	return len(t.RatePlanIDs) == 0 || slices.Contains(t.RatePlanIDs, ratePlanID)
}

// Covers reports whether a trigger is newer than another and its window is what is left
// of that one's or more.
func (t *Trigger) Covers(older *Trigger, now time.Time) bool {
	left := older.Start.Time
	if older.End.After(now) && now.After(left) {
		left = now
	}
	return t.Sequence > older.Sequence && !t.Start.After(left) && !t.End.Before(older.End.Time)
}

// Supersedes reports whether a trigger covers an older one for every home: what counts
// of a price signal is the newest.
func (t *Trigger) Supersedes(older *Trigger, now time.Time) bool {
	return len(t.RatePlanIDs) == 0 && t.Covers(older, now)
}

// LongestRetry bounds how long a delivery is tried, whatever an endpoint asks.
const LongestRetry = 24 * time.Hour

// Deadline is when a delivery to an endpoint is given up: when the signal's own
// window has ended or the endpoint's policy says so, whichever is first. A
// window that had already ended when it was asked for (a past one) does not
// count: its signal is history, and no newer one makes it stale.
func (t *Trigger) Deadline(p storage.RetryPolicy) time.Time {
	from := t.CreatedAt.Time
	if t.RetriedAt.After(from) {
		from = t.RetriedAt.Time
	}
	giveUp := min(time.Duration(p.GiveUpSeconds*float64(time.Second)), LongestRetry)
	deadline := from.Add(giveUp)
	if t.End.After(from) && t.End.Before(deadline) {
		deadline = t.End.Time
	}
	return deadline
}
