package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// PlanIDInput identifies a rate plan. The organization is empty for a shared plan.
type PlanIDInput = wire.PlanIDInput

// PlanOwner identifies an organization. It is empty for the shared plans.
type PlanOwner = wire.PlanOwner

// NewPlanEvent is an event to create or replace.
type NewPlanEvent = wire.CreatePlanEventInput

// CreatePlanEvent creates or replaces an event of a rate plan. Operator only.
func (c *Client) CreatePlanEvent(ctx context.Context, e NewPlanEvent) (storage.PlanEvent, error) {
	return call[storage.PlanEvent](ctx, c, "/v1/admin/plan_events/create", e)
}

// PlanEvents lists the events of a rate plan. Operator only.
func (c *Client) PlanEvents(ctx context.Context, plan PlanIDInput) ([]storage.PlanEvent, error) {
	events, _, err := list[storage.PlanEvent](ctx, c, "/v1/admin/plan_events/list", plan)
	return events, err
}

// DeletePlanEvent removes an event of a rate plan. Operator only.
func (c *Client) DeletePlanEvent(ctx context.Context, plan PlanIDInput, id string) error {
	_, err := call[struct{}](ctx, c, "/v1/admin/plan_events/"+segment(id)+"/delete", plan)
	return err
}
