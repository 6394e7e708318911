package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func showSeries(m *storage.MarketSeries) wire.MarketSeries {
	return wire.MarketSeries{OrganizationID: rest.UnlessShared(m.OrganizationID), MarketSeries: *m}
}

func (s *server) listMarketSeries(_ context.Context, c *rest.Call, in *wire.ListPlansInput) (wire.Page[wire.MarketSeries], error) {
	return page(s, c, storage.KindMarketSeries, in.Owner(), in.PageInput, plain(showSeries))
}
