package events

import (
	"errors"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Trigger requests the price signal of every home of an organization at one moment. An
// accepted trigger is walked to its end.
type Trigger struct {
	ID             string `json:"triggerId"`
	OrganizationID string `json:"organizationId"`
	// Start and End are the window of the signals, on the quarter-hour grid.
	Start storage.Time `json:"startTime"`
	End   storage.Time `json:"endTime"`
	// RatePlanIDs selects the homes of these plans. It is empty for all homes.
	RatePlanIDs []string `json:"ratePlanIds,omitempty"`
	// Homes is the number of selected homes at Revision.
	Homes int `json:"homes"`
	// Notified is the number of endpoints that want the notice of the trigger's completion.
	Notified int `json:"notified,omitempty"`
	// Revision is the API's revision of the state. A worker walks the homes that existed
	// at Revision. It waits until its own replica has reached Revision.
	Revision uint64 `json:"revision"`
	// Wide reports whether the slices have WideSliceHomes homes instead of SliceHomes.
	Wide bool `json:"wide,omitempty"`
	// CreatedAt is the time of acceptance. The webhooks carry the same time, so that
	// every attempt has the same body.
	CreatedAt storage.Time `json:"createdAt"`
	// RequestID is the identifier of the API request.
	RequestID string `json:"requestId,omitempty"`
	// IdempotencyKey is the idempotency key within the organization, empty if there is none.
	// Fingerprint shows whether a repeat is the same request.
	IdempotencyKey string `json:"onceKey,omitempty"`
	Fingerprint    string `json:"fingerprint,omitempty"`
	// Traceparent is the trace context of the walk, empty without a trace. The body of a
	// webhook does not contain it.
	Traceparent Traceparent `json:"traceparent,omitempty"`
	// ScheduleID is the schedule that created the trigger, empty if a caller did.
	ScheduleID string `json:"scheduleId,omitempty"`
	// Follows is the sequence of the previous trigger of a schedule that runs when prices
	// change. The trigger is accepted only if no other trigger of the schedule came in
	// between. The stored form leaves it out.
	Follows uint64 `json:"-"`
	// RetriedAt is the time of a manual retry, set on the retries of its deliveries.
	// Durations then count from RetriedAt instead of CreatedAt.
	RetriedAt storage.Time `json:"retriedAt,omitzero"`
	// Surplus reports whether the organization had SurplusFrom uncompleted triggers when
	// this one was accepted. Only notifications count earlier notifications. The slices of
	// surplus triggers have their own queue.
	Surplus bool `json:"surplus,omitempty"`
	// Change is the change of an OpenADR object that subscribers are notified of. It is
	// nil for price signals. With a Change, ScheduleID names the object.
	Change *Change `json:"change,omitempty"`
	// Sequence is the trigger's sequence in the log of triggers. The stored form leaves
	// it out, and readers of the log set it. A home's newest signal has the highest
	// sequence.
	Sequence uint64 `json:"-"`
}

// SurplusFrom is the number of uncompleted triggers from which on an organization's triggers
// are surplus. They pile up behind a slow endpoint, or because a caller sends more than the
// workers deliver. These slices must not delay slices of other organizations.
const SurplusFrom = 2

// NewTrigger returns a trigger with a new identifier.
func NewTrigger(org string, w pricing.Window, now time.Time) Trigger {
	return Trigger{
		ID: storage.NewID("trg_", now), OrganizationID: org,
		Start: storage.Time{Time: w.Start}, End: storage.Time{Time: w.End},
		CreatedAt: storage.Time{Time: now.UTC().Truncate(time.Millisecond)},
	}
}

// AlreadyAccepted is the error of a repeated trigger. The first trigger with the same
// idempotency key was accepted less than storage.IdempotencyRetention before.
type AlreadyAccepted struct {
	// First is the accepted trigger.
	First Trigger
}

func (e *AlreadyAccepted) Error() string {
	return "the trigger " + e.First.ID + " was accepted for this request already"
}

// Window returns the window of the signals.
func (t *Trigger) Window() pricing.Window {
	return pricing.Window{Start: t.Start.Time, End: t.End.Time}
}

// ErrWindow is the error of a trigger with an impossible window. Its walk might take
// forever: a window from the year 1 has 71 million intervals for each home.
var ErrWindow = errors.New("events: the trigger's window is out of range")

// Check returns ErrWindow if a damaged or forged trigger has an impossible window.
func (t *Trigger) Check() error {
	if !t.Window().Askable() {
		return ErrWindow
	}
	return nil
}

// Selects reports whether the trigger selects the homes on a rate plan.
func (t *Trigger) Selects(ratePlanID string) bool {
	return len(t.RatePlanIDs) == 0 || slices.Contains(t.RatePlanIDs, ratePlanID)
}

// Covers reports whether the trigger is newer than another trigger and its window covers
// the rest of the older window. A newer trigger at an older revision covers nothing,
// because its walk skips the homes created since that revision.
func (t *Trigger) Covers(older *Trigger, now time.Time) bool {
	left := older.Start.Time
	if older.End.After(now) && now.After(left) {
		left = now
	}
	return t.Change == nil && older.Change == nil && t.Sequence > older.Sequence && t.Revision >= older.Revision &&
		!t.Start.After(left) && !t.End.Before(older.End.Time)
}

// Supersedes reports whether the trigger covers an older trigger for every home. Of
// several price signals only the newest counts.
func (t *Trigger) Supersedes(older *Trigger, now time.Time) bool {
	return len(t.RatePlanIDs) == 0 && t.Covers(older, now)
}

// LongestRetry limits how long a delivery is retried, whatever an endpoint's policy says.
const LongestRetry = 24 * time.Hour

// Deadline returns the time after which no attempt is made. It is the end of the signal's
// window or the end set by the endpoint's policy, whichever is first. A window that had
// already ended at the request does not count. Such a signal is history, and no newer
// signal supersedes it.
func (t *Trigger) Deadline(p storage.RetryPolicy) time.Time {
	from := storage.Later(t.CreatedAt.Time, t.RetriedAt.Time)
	giveUp := min(time.Duration(p.GiveUpSeconds*float64(time.Second)), LongestRetry)
	deadline := from.Add(giveUp)
	if t.End.After(from) {
		return storage.Earlier(deadline, t.End.Time)
	}
	return deadline
}
