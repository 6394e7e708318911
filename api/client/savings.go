package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/savings"
)

// SavingsRequest selects the period and the settings of a savings estimate.
type SavingsRequest = wire.SavingsInput

// SavingsStart is a month or a date. A month means the next such month that has not
// ended.
type SavingsStart = savings.Start

// EstimateSavings estimates the savings from optimizing a home's heating and cooling.
func (c *Client) EstimateSavings(ctx context.Context, homeID string, s SavingsRequest) (savings.Result, error) {
	return call[savings.Result](ctx, c, "/v1/homes/"+segment(homeID)+"/hvac/estimate_savings", s)
}
