package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/doctor"
	"github.com/gridhook/gridhook/config"
)

// exitDoubt is the exit code of gridhook doctor if there is no problem but a warning or
// an unknown status.
const exitDoubt = 3

// errDoubt ends a command with exitDoubt.
var errDoubt = errors.New("nothing is known to be wrong")

func newDoctorCommand(g *globals) *cobra.Command {
	var role string
	var monitors []string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check how Gridhook and its NATS are set up", GroupID: groupServer, Args: takes(),
		Long: `Check the settings, the data folder, who can reach the listeners, and the NATS that
these settings name: whether it can lose what it acknowledged, has the version, room
and permissions that are needed, and agrees on the time. It takes the settings of
serve, api and worker, from the same places. It changes nothing; on NATS it makes a
stream GRIDHOOK_TRIAL_... and takes it away again.

One line a check says what is so, and what to do where it is not well. Exit code 0:
all is well. 1: something is wrong. 3: nothing is known to be wrong, but there is a
warning or something could not be found out.

How a NATS server syncs to disk it tells on its monitoring port alone, or to users of
its system account: name the ports with --nats-monitor.`,
		Example: `  gridhook doctor
  gridhook doctor --config /etc/gridhook.yaml --json
  gridhook doctor --nats nats://10.0.0.5:4222 --nats-replicas 3 \
    --nats-monitor http://10.0.0.5:8222,http://10.0.0.6:8222,http://10.0.0.7:8222`,
	}
	flags := cmd.Flags()
	config.AddFlags(flags, config.Roles()...)
	flags.StringVar(&role, "role", "", "whose settings they are, serve, api or worker; by default api where they name a NATS, otherwise serve")
	flags.StringSliceVar(&monitors, "nats-monitor", nil, "the `addresses` of the NATS servers' monitoring, with commas between them (GRIDHOOK_NATS_MONITOR)")
	g.outputFlags(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		meant := config.Role(role)
		switch meant {
		case "":
			meant = config.Meant(flags, g.environ)
		case config.Serve, config.API, config.Worker:
		default:
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
			return fmt.Errorf("%w: see the lines with PROBLEM", errSome)
		}
		return fmt.Errorf("%w: see the lines with WARNING or UNKNOWN", errDoubt)
	}
	return cmd
}

func writeReport(w io.Writer, report *doctor.Report) {
	for _, f := range report.Findings {
		text := f.Says
		if f.Do != "" {
			text += ". To do: " + f.Do
		}
		row(w, strings.ToUpper(string(f.Status)), f.Check, text)
	}
}
