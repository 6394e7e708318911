package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Plan is a rate plan. Only GetPlan returns the tariff.
type Plan = wire.PlanWithTariff

// NewPlan is a tariff or a plan of the catalog, with the identifier that homes refer
// to.
type NewPlan = wire.ImportPlanInput

// ImportPlan creates or replaces a rate plan. Operator only.
func (c *Client) ImportPlan(ctx context.Context, p NewPlan) (Plan, error) {
	return Call[Plan](ctx, c, "/v1/admin/plans/import", p)
}

// Plans lists the plans of an organization, or the shared plans if organization is empty.
// Operator only.
func (c *Client) Plans(ctx context.Context, organization string, p Page) (items []Plan, next string, err error) {
	return List[Plan](ctx, c, "/v1/admin/plans/list", ofOrganization{organization, p})
}

// GetPlan reads one plan. Operator only.
func (c *Client) GetPlan(ctx context.Context, organization, id string) (Plan, error) {
	return Call[Plan](ctx, c, at("/v1/admin/plans/{id}/get", id), ofOrganization{OrganizationID: organization})
}

// DeletePlan removes a plan. Operator only.
func (c *Client) DeletePlan(ctx context.Context, organization, id string) error {
	_, err := Call[struct{}](ctx, c, at("/v1/admin/plans/{id}/delete", id), ofOrganization{OrganizationID: organization})
	return err
}

// PlanIDInput identifies a rate plan. The organization is empty for a shared plan.
type PlanIDInput = wire.PlanIDInput

// PlanOwner identifies an organization. It is empty for the shared plans.
type PlanOwner = wire.PlanOwner

// NewPlanEvent is an event to create or replace.
type NewPlanEvent = wire.CreatePlanEventInput

// CreatePlanEvent creates or replaces an event of a rate plan. Operator only.
func (c *Client) CreatePlanEvent(ctx context.Context, e NewPlanEvent) (storage.PlanEvent, error) {
	return Call[storage.PlanEvent](ctx, c, "/v1/admin/plan_events/create", e)
}

// PlanEvents lists the events of a rate plan. Operator only.
func (c *Client) PlanEvents(ctx context.Context, plan PlanIDInput) ([]storage.PlanEvent, error) {
	events, _, err := List[storage.PlanEvent](ctx, c, "/v1/admin/plan_events/list", plan)
	return events, err
}

// DeletePlanEvent removes an event of a rate plan. Operator only.
func (c *Client) DeletePlanEvent(ctx context.Context, plan PlanIDInput, id string) error {
	_, err := Call[struct{}](ctx, c, at("/v1/admin/plan_events/{id}/delete", id), plan)
	return err
}

// MarketSeries is a series of market prices, without the prices.
type MarketSeries = wire.MarketSeries

// MarketSeriesOf lists the series of an organization, or the shared series if
// organization is empty. Operator only.
func (c *Client) MarketSeriesOf(ctx context.Context, organization string, p Page) (items []MarketSeries, next string, err error) {
	return List[MarketSeries](ctx, c, "/v1/admin/market_series/list", ofOrganization{organization, p})
}

// DeleteMarketSeries removes a series. Operator only.
func (c *Client) DeleteMarketSeries(ctx context.Context, organization, id string) error {
	_, err := Call[struct{}](ctx, c, at("/v1/admin/market_series/{id}/delete", id), ofOrganization{OrganizationID: organization})
	return err
}
