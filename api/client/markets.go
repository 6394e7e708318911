package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
)

// MarketSeries is a series of market prices, without the prices.
type MarketSeries = wire.MarketSeries

// MarketSeriesOf lists the series of an organization, or the shared series if
// organization is empty. Operator only.
func (c *Client) MarketSeriesOf(ctx context.Context, organization string, p Page) (items []MarketSeries, next string, err error) {
	return list[MarketSeries](ctx, c, "/v1/admin/market_series/list", ofOrganization{organization, p})
}

// DeleteMarketSeries removes a series. Operator only.
func (c *Client) DeleteMarketSeries(ctx context.Context, organization, id string) error {
	_, err := call[struct{}](ctx, c, "/v1/admin/market_series/"+segment(id)+"/delete", ofOrganization{OrganizationID: organization})
	return err
}
