package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

func newMarketCommand(g *globals) *cobra.Command {
	r := resource[client.MarketSeries]{
		g: g, noun: "series", plural: "market prices", path: "/v1/admin/market_series", owned: true, scope: g.ownedOrShared,
		columns: []any{"ID", "NODE", "MARKET", "MINUTES", "PRICES", "FROM", "TO"},
		cells: func(m client.MarketSeries) []any {
			return []any{m.ID, m.Node, m.Market, m.StepMinutes, m.Prices, moment(m.StartTime), moment(m.EndTime)}
		},
	}
	return g.talks(group("market", "Market prices, which come by import",
		r.list("List the series that all organizations share, or those of one", "  gridhook market list"),
		r.remove("Remove a series; homes whose plans follow it have no price then", "  gridhook market delete COMED-REAL_TIME")))
}
