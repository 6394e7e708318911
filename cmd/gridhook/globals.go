package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gridhook/gridhook/config"
)

// globals are the streams, settings and flags of every subcommand.
type globals struct {
	in       io.Reader
	out, err io.Writer
	// environ is the environment in the form of os.Environ.
	environ []string
	version version
	// run runs a server until ctx ends.
	run func(ctx context.Context, c config.Config, version string, out io.Writer) error
	// pollEvery is the pause between two polls of a trigger.
	pollEvery time.Duration
	// progressEvery is the pause between two lines of progress without a terminal.
	progressEvery time.Duration

	// output is the output format; empty means table.
	output string
	// adminURL is the server's address, data the folder of the operator's key, and org
	// the organization to act for.
	adminURL, data, org string
	// apiURL is the public API's address. If set, commands act as a partner with apiKey.
	apiURL, apiKey string
	// context is the name of the selected context. contextKey is its operator key.
	context, contextKey string
	// contextErr is the reason why there is no such context.
	contextErr error

	// lists are the resources that have a list, by noun.
	lists map[string]resource

	// running is set when a subcommand runs. Earlier errors are usage errors.
	running bool
}

// getenv returns a variable's value, or "" if it is not set.
func (g *globals) getenv(name string) string {
	for _, e := range g.environ {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
