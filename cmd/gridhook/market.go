package main

import "github.com/spf13/cobra"

func newMarketCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "series", plural: "market prices", path: "/v1/admin/market_series", owned: true, scope: g.ownedOrShared,
		columns: "ID:id, NODE:node, MARKET:market, MINUTES:stepMinutes, PRICES:prices, FROM:startTime, TO:endTime",
	}
	return g.talks(group("market", "Imported market prices",
		r.list("List the shared price series, or the series of an organization", "  gridhook market list"),
		r.remove("Delete a series; homes on plans that follow it have no price afterwards", "  gridhook market delete REAL_TIME--COMED")))
}
