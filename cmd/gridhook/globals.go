package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gridhook/gridhook/config"
)

// globals are what every subcommand has at hand.
type globals struct {
	in       io.Reader
	out, err io.Writer
	// environ is the environment, in the form of os.Environ.
	environ []string
	version version
	// run runs a server until ctx ends.
	run func(ctx context.Context, c config.Config, version string, out io.Writer) error
	// pollEvery is the pause between two looks at a trigger.
	pollEvery time.Duration

	// json says that the output is for programs.
	json bool
	// adminURL, data and org are where the server is, where its operator's key
	// is, and whom to act for.
	adminURL, data, org string

	// running is set once a subcommand runs: errors before that are of usage.
	running bool
}

// getenv is the value of a variable, "" when it is not set.
func (g *globals) getenv(name string) string {
	for _, e := range g.environ {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// isTerminal reports whether a stream is one that people look at.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
