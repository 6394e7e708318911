package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
)

// DeliveriesRequest filters deliveries. An empty field matches all deliveries.
type DeliveriesRequest = wire.ListDeliveriesInput

// Deliveries lists the outcomes of deliveries, one item per home, endpoint and trigger.
// The newest triggers come first. A page before the last may be short or empty.
func (c *Client) Deliveries(ctx context.Context, d DeliveriesRequest) (items []events.Delivery, next string, err error) {
	return List[events.Delivery](ctx, c, "/v1/webhook/deliveries/list", d)
}

// GetDelivery reads a delivery with all its attempts. id is the delivery's webhook-id.
func (c *Client) GetDelivery(ctx context.Context, id string) (events.DeliveryLog, error) {
	return Call[events.DeliveryLog](ctx, c, at("/v1/webhook/deliveries/{id}/get", id), nothing)
}

// AcceptedRetry confirms that a retry is stored durably.
type AcceptedRetry = wire.AcceptedRetry

// RetryDelivery retries an exhausted or expired delivery as the same message.
func (c *Client) RetryDelivery(ctx context.Context, id string) (AcceptedRetry, error) {
	return Call[AcceptedRetry](ctx, c, at("/v1/webhook/deliveries/{id}/retry", id), nothing)
}

// DeliveryRequest is the HTTP request of a delivery, without secrets.
type DeliveryRequest = wire.DeliveryRequest

// GetDeliveryRequest makes the HTTP request of a delivery again.
func (c *Client) GetDeliveryRequest(ctx context.Context, id string) (DeliveryRequest, error) {
	return Call[DeliveryRequest](ctx, c, at("/v1/webhook/deliveries/{id}/request", id), nothing)
}

// ReplayRequest selects the deliveries of an endpoint to retry.
type ReplayRequest = wire.ReplayInput

// Replay is the progress of a replay.
type Replay = wire.Replay

// ReplayEndpoint retries the deliveries that an endpoint did not receive.
func (c *Client) ReplayEndpoint(ctx context.Context, id string, r ReplayRequest) (Replay, error) {
	return Call[Replay](ctx, c, at("/v1/webhook/endpoints/{id}/replay", id), r, r.IdempotencyKey)
}

// GetReplay returns the progress of a replay.
func (c *Client) GetReplay(ctx context.Context, id string) (Replay, error) {
	return Call[Replay](ctx, c, at("/v1/webhook/replays/{id}/get", id), nothing)
}

// Replays lists the replays of the last week.
func (c *Client) Replays(ctx context.Context, p Page) (items []Replay, next string, err error) {
	return List[Replay](ctx, c, "/v1/webhook/replays/list", p)
}
