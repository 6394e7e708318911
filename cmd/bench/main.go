// The roots of Sink.trust replace the system's:
//
//go:debug x509usefallbackroots=1

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"
	_ "time/tzdata" // homes are in time zones that a machine may not have

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the suites that the arguments name, or serves a measuring process.
func run(ctx context.Context, args []string) error {
	if len(args) == 1 {
		switch args[0] {
		case sinkCommand:
			return ServeSink(os.Stdin, os.Stdout)
		case loadCommand:
			return ServeLoad(ctx, os.Stdin, os.Stdout)
		}
	}
	if len(args) > 1 && args[0] == greedyCommand {
		return serveGreedy(ctx, args[1], args[2:], os.Stdin, os.Stdout)
	}
	if len(args) > 0 && args[0] == publishCommand {
		return runPublishing(ctx, args[1:])
	}
	o := Options{Progress: os.Stderr, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.BoolVar(&o.Quick, "quick", false, "measure less, for a first impression")
	flags.IntVar(&o.Homes, "homes", 0, "`number` of homes of the suite million (default 1000000)")
	profile := flags.String("cpu-profile", "", "`file` for a CPU profile of the measuring process, for go tool pprof")
	asJSON := flags.Bool("json", false, "print the report as JSON")
	flags.Usage = func() {
		fmt.Fprintf(os.Stderr, "Usage: bench [SUITE...]\n       bench publish [flags] URL BODY\n\nSuites: %s. By default all run. \"publish\" measures another server.\n\nFlags:\n%s", strings.Join(names(), ", "), flags.FlagUsages())
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.Homes < 0 {
		return fmt.Errorf("--homes is %d: give a number above 0", o.Homes)
	}
	o.Suites = flags.Args()
	var report *Report
	err := profiled(*profile, func() (err error) {
		report, err = Run(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if !*asJSON {
		return report.Print(os.Stdout)
	}
	return printJSON(report)
}

// runPublishing measures the server that the arguments name.
func runPublishing(ctx context.Context, args []string) error {
	p, asJSON, err := parsePublishing(args)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.listen)
	if err != nil {
		return err
	}
	result, err := p.measure(ctx, listener)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(result)
	}
	_, err = fmt.Print(result)
	return err
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// profiled writes a CPU profile of do to a file if file is not empty.
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
