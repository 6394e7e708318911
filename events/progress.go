package events

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// TriggerStatus is the status of a trigger's walk and deliveries.
type TriggerStatus string

// Statuses of a trigger.
const (
	TriggerAccepted  TriggerStatus = "ACCEPTED"
	TriggerRunning   TriggerStatus = "RUNNING"
	TriggerCompleted TriggerStatus = "COMPLETED"
)

// Progress is a trigger with the current outcomes of its deliveries.
type Progress struct {
	TriggerID      string          `json:"triggerId" example:"trg_01JZ2E6K8M0000000000000000"`
	OrganizationID string          `json:"organizationId" example:"acme"`
	ScheduleID     string          `json:"scheduleId,omitempty" doc:"The schedule of the trigger. Absent if an API request made the trigger." example:"sch_01JZ2E6K8M0000000000000000"`
	Status         TriggerStatus   `json:"status" doc:"COMPLETED if every home has a final outcome." example:"RUNNING"`
	StartTime      storage.Time    `json:"startTime"`
	EndTime        storage.Time    `json:"endTime" example:"2026-07-02T12:00:00.000Z"`
	RatePlanIDs    []string        `json:"ratePlanIds,omitempty" doc:"The rate plans whose homes are triggered. Absent if all homes are triggered." example:"[\"plan_1\"]"`
	Homes          int             `json:"homes" doc:"The number of homes when the trigger was accepted." example:"250000"`
	Walked         int             `json:"walked" doc:"The number of homes that the walk has reached. At the end it differs from homes if homes were created again or changed their rate plan meanwhile." example:"250000"`
	Outcomes       map[Outcome]int `json:"outcomes" doc:"The number of deliveries by outcome. Each home and endpoint has one delivery." example:"{\"DELIVERED\":249990,\"RETRYING\":10}"`
	CreatedAt      storage.Time    `json:"createdAt"`
	CompletedAt    storage.Time    `json:"completedAt" nullable:"true" example:"null"`
	// Notification is the change of an OpenADR object, absent for price signals.
	Notification *Notification `json:"notification,omitempty" doc:"The changed OpenADR object of which subscribers are notified. Absent for price signals. With it, homes and walked count subscriptions."`
	// Traceparent is the trigger's trace context. The API does not show it.
	Traceparent Traceparent `json:"-"`
}

// Notification describes the change of an OpenADR object for its subscribers.
type Notification struct {
	ObjectType storage.OpenADRType `json:"objectType" doc:"The object's type." example:"EVENT"`
	Operation  string              `json:"operation" doc:"CREATE, UPDATE or DELETE." example:"UPDATE"`
	ObjectID   string              `json:"objectId" doc:"The object's id." example:"plan_1_20260701"`
}

// HistoryHour sums up the triggers that were accepted in an hour.
type HistoryHour struct {
	StartTime      storage.Time    `json:"startTime"`
	Triggers       int             `json:"triggers" doc:"The number of triggers that were accepted in this hour." example:"4"`
	Outcomes       map[Outcome]int `json:"outcomes" doc:"The number of their deliveries by outcome." example:"{\"DELIVERED\":999990,\"FAILED\":10}"`
	Completed      int             `json:"completed" doc:"The number of their completed triggers." example:"4"`
	MedianSeconds  float64         `json:"medianSeconds" doc:"The median time from the creation of a completed trigger to its last outcome, 0 if none is completed." example:"19.2"`
	SlowestSeconds float64         `json:"slowestSeconds" doc:"The longest such time." example:"31.5"`
}

// Walk is the position of a trigger's walk. Every slice before Next has a receipt. Slice
// Next has none and begins after the home After.
type Walk struct {
	Trigger Trigger
	Next    int
	After   string
}

// TriggerLog accepts triggers.
type TriggerLog interface {
	// Admit returns the error with which Accept refuses the trigger beyond a quota. A
	// caller asks before it counts the trigger's homes. Errors: *QuotaError.
	Admit(ctx context.Context, t Trigger) error
	// Accept stores the trigger and returns its sequence once it is durable. It stores
	// only one trigger per idempotency key, even for simultaneous requests. Errors:
	// *AlreadyAccepted, storage.ErrUnavailable, and storage.ErrConflict if the last
	// trigger of the schedule is not the expected trigger (Follows).
	Accept(ctx context.Context, t Trigger) (sequence uint64, err error)
	// FirstRequest returns the unexpired trigger with the idempotency key of t, zero if
	// there is none. Errors: storage.ErrUnavailable.
	FirstRequest(ctx context.Context, t Trigger) (Trigger, error)
	// Newest returns an organization's newest trigger, zero if there is none. Errors:
	// storage.ErrUnavailable.
	Newest(ctx context.Context, org string) (Trigger, error)
}

// Run is one run of a schedule.
type Run struct {
	TriggerID string       `json:"triggerId"`
	At        storage.Time `json:"at"`
}

// Walks lists unfinished walks.
type Walks interface {
	// Unfinished lists at most limit unfinished walks after a walk, by organization and
	// oldest first. A zero walk begins the list.
	Unfinished(after Walk, limit int) ([]Walk, error)
}
