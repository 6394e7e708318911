package main

import (
	"errors"
	"log/slog"
	"os"
	"runtime/pprof"
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
	var profile string
	cmd.Flags().StringVar(&profile, "cpu-profile", "", "write a CPU profile of the measuring process to a file, for go tool pprof")
	cmd.Flags().BoolVar(&g.json, "json", false, "print the report as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Suites, o.Progress = args, g.err
		o.Log = slog.New(slog.NewTextHandler(g.err, &slog.HandlerOptions{Level: slog.LevelError}))
		var report *bench.Report
		err := profiled(profile, func() (err error) {
			report, err = bench.Run(cmd.Context(), o)
			return err
		})
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

// profiled writes a CPU profile of what it does to a file, if one is named.
func profiled(file string, do func() error) (err error) {
	if file == "" {
		return do()
	}
	out, err := os.Create(file) //nolint:gosec // whoever calls names it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
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

// newBenchLoadCommand is the caller that bench runs in a process of its own.
func newBenchLoadCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: bench.LoadCommand, Hidden: true, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return bench.ServeLoad(cmd.Context(), g.in, g.out) },
	}
}
