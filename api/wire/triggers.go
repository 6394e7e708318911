package wire

import (
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// AcceptedTrigger confirms that a trigger is stored durably. Gridhook processes all its
// homes.
type AcceptedTrigger struct {
	TriggerID      string               `json:"triggerId" example:"trg_01JZ2E6K8M0000000000000000"`
	OrganizationID string               `json:"organizationId" example:"acme"`
	Status         events.TriggerStatus `json:"status" example:"ACCEPTED"`
	StartTime      storage.Time         `json:"startTime"`
	EndTime        storage.Time         `json:"endTime" example:"2026-07-02T12:00:00.000Z"`
	RatePlanIDs    []string             `json:"ratePlanIds,omitempty" doc:"The rate plans whose homes are triggered. Absent if all homes are triggered." example:"[\"plan_1\"]"`
	Homes          int                  `json:"homes" doc:"The number of homes of the trigger." example:"250000"`
	CreatedAt      storage.Time         `json:"createdAt"`
}
