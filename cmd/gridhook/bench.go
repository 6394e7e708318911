package main

import (
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/bench"
)

func newBenchCommand(g *globals) *cobra.Command {
	o := bench.Options{}
	cmd := &cobra.Command{
		Use: "bench [SUITE...]", Short: "Measure this machine, side by side with its raw ceiling",
		Long: `Measure what Gridhook reaches on this machine and, in the same run, what a
bare client reaches against the same receiver. Nothing needs to be set up, and
nothing is left behind.

The suites are: ` + strings.Join(bench.Names(), ", ") + `. Without a name all of them run.`,
		Example: `  gridhook bench
  gridhook bench --quick
  gridhook bench delivery --json`,
		GroupID: groupTry,
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "measure less, for a first impression")
	cmd.Flags().BoolVar(&g.json, "json", false, "print the report as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Suites, o.Progress = args, g.err
		o.Log = slog.New(slog.NewTextHandler(g.err, &slog.HandlerOptions{Level: slog.LevelError}))
		report, err := bench.Run(cmd.Context(), o)
		if err != nil {
			return err
		}
		if g.json {
			return g.showJSON(report)
		}
		return report.Print(g.out)
	}
	return cmd
}

// newBenchNATSCommand is the nats-server that bench runs in a process of its own.
func newBenchNATSCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: bench.NATSCommand + " DIR", Hidden: true, Args: takes("DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return bench.ServeNATS(args[0], g.in, g.out) },
	}
}

// newBenchSinkCommand is the receiver that bench runs in a process of its own.
func newBenchSinkCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: bench.SinkCommand, Hidden: true, Args: takes(),
		RunE: func(*cobra.Command, []string) error { return bench.ServeSink(g.in, g.out) },
	}
}
