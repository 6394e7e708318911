package events

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// TriggerStatus is how far a trigger has come.
type TriggerStatus string

// The statuses of a trigger.
const (
	TriggerAccepted  TriggerStatus = "ACCEPTED"
	TriggerRunning   TriggerStatus = "RUNNING"
	TriggerCompleted TriggerStatus = "COMPLETED"
)

// Progress is a trigger and what became of its homes so far.
type Progress struct {
	TriggerID      string `json:"triggerId"`
	OrganizationID string `json:"organizationId"`
	// ScheduleID is the schedule that asked for it, absent where a caller did.
	ScheduleID string        `json:"scheduleId,omitempty"`
	Status     TriggerStatus `json:"status"`
	StartTime  storage.Time  `json:"startTime"`
	EndTime    storage.Time  `json:"endTime"`
	// RatePlanIDs are the plans whose homes alone are meant, absent where all are.
	RatePlanIDs []string `json:"ratePlanIds,omitempty"`
	// Homes is how many homes are meant, of those that there were when the trigger was
	// accepted, Walked how many have been reached.
	Homes  int `json:"homes"`
	Walked int `json:"walked"`
	// Outcomes counts deliveries by outcome: one per home and endpoint.
	Outcomes    map[Outcome]int `json:"outcomes"`
	CreatedAt   storage.Time    `json:"createdAt"`
	CompletedAt storage.Time    `json:"completedAt"`
	// Traceparent is the trigger's place in a trace. It is not shown.
	Traceparent Traceparent `json:"-"`
}

// Walk is how far the walk of a trigger has come: every slice before Next has its
// receipt, and Next has none yet and begins behind the home After.
type Walk struct {
	Trigger Trigger
	Next    int
	After   string
}

// TriggerLog is where triggers are accepted.
type TriggerLog interface {
	// Accept stores the trigger and returns its sequence once it is durable. Of
	// those with one OnceKey one alone is stored, whoever asks at the same time.
	// Errors: *AlreadyAccepted, storage.ErrUnavailable, and storage.ErrConflict where
	// another trigger than it Follows came before it.
	Accept(ctx context.Context, t Trigger) (sequence uint64, err error)
}

// Ledger answers what became of triggers.
type Ledger interface {
	// Progress is one trigger of an organization. Errors: storage.ErrNotFound.
	Progress(org, triggerID string) (Progress, error)
	// Recent lists an organization's newest triggers first, at most limit.
	Recent(org string, limit int) ([]Progress, error)
	// Deliveries lists what became of homes: the newest triggers first, and of each
	// in the order of homes and endpoints. A page may be shorter than was asked for,
	// even empty, where much had to be looked at; the cursor of the next page is
	// empty at the end. Errors: storage.ErrNotFound where a trigger is named that
	// there is not, *storage.InvalidError on the field after.
	Deliveries(org string, q DeliveryQuery) (page []Delivery, next string, err error)
	// Delivery is one delivery by the identifier of its message. Errors:
	// storage.ErrNotFound.
	Delivery(org, messageID string) (DeliveryLog, error)
	// Kept finds what deliveries of one trigger were made of that were given up, the
	// trigger with it. Of what is not kept nothing is found. Errors:
	// storage.ErrNotFound.
	Kept(org, triggerID string, deliveries []Delivery) (Trigger, []Kept, error)
	// Health is how an endpoint has done of late.
	Health(org, endpointID string) (Health, error)
	// LastRun is the last run of a schedule, zero when there was none.
	LastRun(org, scheduleID string) (Run, error)
}

// Run is one run of a schedule.
type Run struct {
	TriggerID string       `json:"triggerId"`
	At        storage.Time `json:"at"`
}

// Walks tells which walks have not come to their end.
type Walks interface {
	// Unfinished lists the walks that have not, at most limit, oldest first
	// within an organization.
	Unfinished(limit int) ([]Walk, error)
}
