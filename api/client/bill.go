package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/bill"
)

// BillRequest selects the rate plan and the period of a bill.
type BillRequest = wire.BillInput

// Bill calculates a home's bill for a metered period or a typical year.
func (c *Client) Bill(ctx context.Context, homeID string, b BillRequest) (bill.Bill, error) {
	return call[bill.Bill](ctx, c, "/v1/homes/"+segment(homeID)+"/bill", b)
}
