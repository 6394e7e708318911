package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
)

// TriggerRequest selects the homes and the window of a trigger.
type TriggerRequest = wire.TriggerInput

// Accepted confirms that a trigger is stored durably. Gridhook processes all its homes.
type Accepted = wire.AcceptedTrigger

// Trigger requests a delivery to every home of the trigger. A nil error means that the
// trigger is accepted.
func (c *Client) Trigger(ctx context.Context, t TriggerRequest) (Accepted, error) {
	return Call[Accepted](ctx, c, "/v1/webhook/price_signal/trigger", t, t.IdempotencyKey)
}

// GetTrigger returns the progress of a trigger.
func (c *Client) GetTrigger(ctx context.Context, id string) (events.Progress, error) {
	return Call[events.Progress](ctx, c, at("/v1/webhook/price_signal/trigger/{id}/get", id), nothing)
}

// Triggers lists the organization's triggers, at most limit. The newest trigger comes
// first. If limit is 0, the server's default applies.
func (c *Client) Triggers(ctx context.Context, limit int) ([]events.Progress, error) {
	items, _, err := List[events.Progress](ctx, c, "/v1/webhook/price_signal/trigger/list", Page{Limit: limit})
	return items, err
}
