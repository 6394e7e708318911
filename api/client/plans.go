package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
)

// Plan is a rate plan. Only GetPlan returns the tariff.
type Plan = wire.PlanWithTariff

// NewPlan is a tariff or a plan of the catalog, with the identifier that homes refer
// to.
type NewPlan = wire.ImportPlanInput

// ImportPlan creates or replaces a rate plan. Operator only.
func (c *Client) ImportPlan(ctx context.Context, p NewPlan) (Plan, error) {
	return call[Plan](ctx, c, "/v1/admin/plans/import", p)
}

// Plans lists the plans of an organization, or the shared plans if organization is empty.
// Operator only.
func (c *Client) Plans(ctx context.Context, organization string, p Page) (items []Plan, next string, err error) {
	return list[Plan](ctx, c, "/v1/admin/plans/list", ofOrganization{organization, p})
}

// GetPlan reads one plan. Operator only.
func (c *Client) GetPlan(ctx context.Context, organization, id string) (Plan, error) {
	return call[Plan](ctx, c, "/v1/admin/plans/"+segment(id)+"/get", ofOrganization{OrganizationID: organization})
}

// DeletePlan removes a plan. Operator only.
func (c *Client) DeletePlan(ctx context.Context, organization, id string) error {
	_, err := call[struct{}](ctx, c, "/v1/admin/plans/"+segment(id)+"/delete", ofOrganization{OrganizationID: organization})
	return err
}
