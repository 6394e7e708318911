package client

import (
	"context"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// TriggerRequest asks for the price signal of every home.
type TriggerRequest struct {
	// OrganizationID is by default the key's own.
	OrganizationID string `json:"organizationId,omitempty"`
	// StartTime and EndTime are both given or both nil, for the next 24 hours.
	StartTime *storage.Time `json:"startTime,omitempty"`
	EndTime   *storage.Time `json:"endTime,omitempty"`
	// RatePlanIDs are the plans whose homes alone are meant; none means all homes.
	RatePlanIDs []string `json:"ratePlanIds,omitempty"`
	// IdempotencyKey makes a repeat return the first answer, for 24 h.
	IdempotencyKey string `json:"-"`
}

// Accepted is a trigger that is stored durably, and will be walked to its end.
type Accepted struct {
	TriggerID      string               `json:"triggerId"`
	OrganizationID string               `json:"organizationId"`
	Status         events.TriggerStatus `json:"status"`
	StartTime      storage.Time         `json:"startTime"`
	EndTime        storage.Time         `json:"endTime"`
	// RatePlanIDs are the plans whose homes alone are meant, nil for all homes.
	RatePlanIDs []string `json:"ratePlanIds"`
	// Homes is how many homes the organization has at this moment, of those meant.
	Homes     int          `json:"homes"`
	CreatedAt storage.Time `json:"createdAt"`
}

// Trigger asks for a delivery to every home. It is accepted when there is no
// error.
func (c *Client) Trigger(ctx context.Context, t TriggerRequest) (Accepted, error) {
	return call[Accepted](ctx, c, "/v1/webhook/price_signal/trigger", t, once(t.IdempotencyKey)...)
}

// GetTrigger says how far a trigger has come.
func (c *Client) GetTrigger(ctx context.Context, id string) (events.Progress, error) {
	return call[events.Progress](ctx, c, "/v1/webhook/price_signal/trigger/"+segment(id)+"/get", nothing)
}

// Triggers lists the organization's newest triggers first, at most limit; 0 is
// the server's choice.
func (c *Client) Triggers(ctx context.Context, limit int) ([]events.Progress, error) {
	items, _, err := list[events.Progress](ctx, c, "/v1/webhook/price_signal/trigger/list", Page{Limit: limit})
	return items, err
}
