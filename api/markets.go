package api

import (
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func showSeries(m *storage.MarketSeries) wire.MarketSeries {
	return wire.MarketSeries{OrganizationID: rest.UnlessShared(m.OrganizationID), MarketSeries: *m}
}
