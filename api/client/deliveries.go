package client

import (
	"context"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// DeliveriesRequest asks what became of homes. What is empty asks for all.
type DeliveriesRequest struct {
	TriggerID  string         `json:"triggerId,omitempty"`
	HomeID     string         `json:"homeId,omitempty"`
	EndpointID string         `json:"endpointId,omitempty"`
	Outcome    events.Outcome `json:"outcome,omitempty"`
	// Since and Until bound when the latest attempt was made: from the first, and
	// before the second.
	Since *storage.Time `json:"since,omitempty"`
	Until *storage.Time `json:"until,omitempty"`
	Page
}

// Deliveries lists what became of homes, one item per home, endpoint and trigger,
// the newest triggers first. A page may be short, or empty, before the end.
func (c *Client) Deliveries(ctx context.Context, d DeliveriesRequest) (items []events.Delivery, next string, err error) {
	return list[events.Delivery](ctx, c, "/v1/webhook/deliveries/list", d)
}

// GetDelivery reads a delivery with all its attempts, by its webhook-id.
func (c *Client) GetDelivery(ctx context.Context, id string) (events.DeliveryLog, error) {
	return call[events.DeliveryLog](ctx, c, "/v1/webhook/deliveries/"+segment(id)+"/get", nothing)
}

// AcceptedRetry is a retry that is stored durably.
type AcceptedRetry struct {
	// ID is the delivery's.
	ID        string       `json:"id"`
	Status    string       `json:"status"`
	CreatedAt storage.Time `json:"createdAt"`
}

// RetryDelivery takes up a delivery again that was given up, as the same message.
func (c *Client) RetryDelivery(ctx context.Context, id string) (AcceptedRetry, error) {
	return call[AcceptedRetry](ctx, c, "/v1/webhook/deliveries/"+segment(id)+"/retry", nothing)
}

// ReplayRequest says which deliveries of an endpoint are to be taken up again.
type ReplayRequest struct {
	// Since is from when on, by the time of the last attempt.
	Since storage.Time `json:"since"`
	// Outcomes are FAILED, EXPIRED, or both when there are none.
	Outcomes []events.Outcome `json:"outcomes,omitempty"`
	// IdempotencyKey makes a repeat return the first answer, for 24 h.
	IdempotencyKey string `json:"-"`
}

// Replay is how far a replay has come.
type Replay struct {
	ID         string               `json:"id"`
	EndpointID string               `json:"endpointId"`
	Since      storage.Time         `json:"since"`
	Outcomes   []events.Outcome     `json:"outcomes"`
	Status     storage.ReplayStatus `json:"status"`
	// Found are the deliveries that it has come to; of them Retried were taken up
	// again, Superseded not as a newer trigger has taken their place, and Lost as what
	// they were made of is not kept.
	Found       int          `json:"found"`
	Retried     int          `json:"retried"`
	Superseded  int          `json:"superseded"`
	Lost        int          `json:"lost"`
	CreatedAt   storage.Time `json:"createdAt"`
	CompletedAt storage.Time `json:"completedAt"`
}

// ReplayEndpoint takes up again what an endpoint did not get.
func (c *Client) ReplayEndpoint(ctx context.Context, id string, r ReplayRequest) (Replay, error) {
	var more []header
	if r.IdempotencyKey != "" {
		more = append(more, header{idempotencyHeader, r.IdempotencyKey})
	}
	return call[Replay](ctx, c, endpointPath(id, "replay"), r, more...)
}

// GetReplay says how far a replay has come.
func (c *Client) GetReplay(ctx context.Context, id string) (Replay, error) {
	return call[Replay](ctx, c, "/v1/webhook/replays/"+segment(id)+"/get", nothing)
}

// Replays lists the replays of the last week.
func (c *Client) Replays(ctx context.Context, p Page) (items []Replay, next string, err error) {
	return list[Replay](ctx, c, "/v1/webhook/replays/list", p)
}
