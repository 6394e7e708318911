package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/demo"
)

func newDemoCommand(g *globals) *cobra.Command {
	o := demo.Options{}
	cmd := &cobra.Command{
		Use: "demo", Short: "Run a demonstration: homes on real tariffs, one trigger, verified webhooks",
		Long: `Start a whole Gridhook in a temporary folder, import homes on real rate plans, trigger
their price signals, receive and verify every webhook, change the prices of a market that
a source fetches, and print a report. The command removes the folder at the end.`,
		Example: `  gridhook demo
  gridhook demo --homes 5000
  gridhook demo --json`,
		Args: takes(),
	}
	cmd.Flags().IntVar(&o.Homes, "homes", 300, "`number` of homes, at most 100000")
	g.outputFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Homes < 1 || o.Homes > 100_000 {
			return usagef("--homes must be from 1 to 100000, not %d", o.Homes)
		}
		o.Log = slog.New(slog.NewTextHandler(g.err, &slog.HandlerOptions{Level: slog.LevelError}))
		out := g.out
		if g.json() {
			out = io.Discard
		}
		report, err := demo.Run(cmd.Context(), o, out)
		if err != nil {
			return err
		}
		err = g.show(report, report.Print)
		if err == nil && !report.OK() {
			err = errors.New("some webhooks did not arrive or did not verify: see the report")
		}
		return err
	}
	return cmd
}
