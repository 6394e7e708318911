package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

func newMarketCommand(g *globals) *cobra.Command {
	return g.talks(group("market", "Market prices, which come by import", newMarketList(g), newMarketDelete(g)))
}

func newMarketList(g *globals) *cobra.Command {
	return g.ownedOrShared(&cobra.Command{
		Use: "list", Short: "List the series that all organizations share, or those of one",
		Example: `  gridhook market list`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), func(ctx context.Context, p client.Page) ([]client.MarketSeries, string, error) {
				return c.MarketSeriesOf(ctx, g.org, p)
			})
			if err != nil {
				return err
			}
			header := []any{"ID", "NODE", "MARKET", "MINUTES", "PRICES", "FROM", "TO"}
			return showList(g, all, "market prices", header, func(m client.MarketSeries) []any {
				return []any{m.ID, m.Node, m.Market, m.StepMinutes, m.Prices, moment(m.StartTime), moment(m.EndTime)}
			})
		},
	})
}

func newMarketDelete(g *globals) *cobra.Command {
	return g.ownedOrShared(&cobra.Command{
		Use: "delete SERIES", Short: "Remove a series; homes whose plans follow it have no price then", Args: takes("the series"),
		Example: `  gridhook market delete COMED-REAL_TIME`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			if err := c.DeleteMarketSeries(cmd.Context(), g.org, args[0]); err != nil {
				return err
			}
			return g.showDeleted(args[0])
		},
	})
}
