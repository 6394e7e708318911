package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/doctor"
	"github.com/gridhook/gridhook/config"
)

// exitWarnings is the exit code of gridhook doctor if there is no problem but a warning or
// an unknown status.
const exitWarnings = 3

// errWarnings ends a command with exitWarnings.
var errWarnings = errors.New("no problem found, but some results are not ok")

func newDoctorCommand(g *globals) *cobra.Command {
	var role string
	var monitors []string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the setup of Gridhook and its NATS", Args: takes(),
		Long: `Check the settings, the data folder, the reachability of the listeners, and NATS:
durability of acknowledged writes, version, space, permissions and clock. The command
checks every setting of serve, api and worker, so it takes all of them: as flags, from
the environment and from a file. It changes nothing. On NATS it creates a stream
GRIDHOOK_TRIAL_... and deletes it again.

Each line is one check, with a remedy if the check failed. Exit code 0: no check found a
problem. 1: a check found a problem. 3: there is a warning or an unknown result.

A NATS server reports how it syncs to disk only on its monitoring port or to users of its
system account. Name the ports with --nats-monitor.`,
		Example: `  gridhook doctor
  gridhook doctor --config /etc/gridhook.yaml --json
  gridhook doctor --nats nats://10.0.0.5:4222 --nats-replicas 3 \
    --nats-monitor http://10.0.0.5:8222,http://10.0.0.6:8222,http://10.0.0.7:8222`,
	}
	flags := cmd.Flags()
	config.AddFlags(flags, config.Roles()...)
	flags.StringVar(&role, "role", "", "`role` of the settings: serve, api or worker (default api if the settings name a NATS, otherwise serve)")
	flags.StringSliceVar(&monitors, "nats-monitor", nil, "monitoring `URLs` of the NATS servers, comma-separated (GRIDHOOK_NATS_MONITOR)")
	g.outputFlags(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		meant := cmp.Or(config.Role(role), config.InferRole(flags, g.environ))
		if !slices.Contains(config.Roles(), meant) {
			return usagef("--role must be serve, api or worker, not %q", role)
		}
		if text := g.getenv("GRIDHOOK_NATS_MONITOR"); len(monitors) == 0 && text != "" {
			monitors = strings.Split(text, ",")
		}
		loaded, err := config.Load(meant, flags, g.environ)
		report := doctor.Examine(cmd.Context(), loaded, err, monitors)
		if err := g.show(report, func(w io.Writer) { writeReport(w, &report) }); err != nil {
			return err
		}
		switch report.Status {
		case doctor.OK:
			return nil
		case doctor.Problem:
			return errors.New("there are problems: see the lines with PROBLEM")
		}
		return fmt.Errorf("%w: see the lines with WARNING or UNKNOWN", errWarnings)
	}
	return cmd
}

func writeReport(w io.Writer, report *doctor.Report) {
	for _, f := range report.Findings {
		text := f.Message
		if f.Remedy != "" {
			text += ". To do: " + f.Remedy
		}
		row(w, strings.ToUpper(string(f.Status)), f.Check, text)
	}
}
