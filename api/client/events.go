package client

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// OfPlan names a rate plan; the organization is empty for one that all share.
type OfPlan struct {
	OrganizationID string `json:"organizationId,omitempty"`
	PlanID         string `json:"planId"`
}

// NewPlanEvent is an event of a plan.
type NewPlanEvent struct {
	OfPlan
	storage.PlanEvent
}

// CreatePlanEvent creates or replaces an event of a rate plan. Operator only.
func (c *Client) CreatePlanEvent(ctx context.Context, e NewPlanEvent) (storage.PlanEvent, error) {
	return call[storage.PlanEvent](ctx, c, "/v1/admin/plan_events/create", e)
}

// PlanEvents lists the events of a rate plan. Operator only.
func (c *Client) PlanEvents(ctx context.Context, plan OfPlan) ([]storage.PlanEvent, error) {
	events, _, err := list[storage.PlanEvent](ctx, c, "/v1/admin/plan_events/list", plan)
	return events, err
}

// DeletePlanEvent removes an event of a rate plan. Operator only.
func (c *Client) DeletePlanEvent(ctx context.Context, plan OfPlan, id string) error {
	_, err := call[struct{}](ctx, c, "/v1/admin/plan_events/"+segment(id)+"/delete", plan)
	return err
}
