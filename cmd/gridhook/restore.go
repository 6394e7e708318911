package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
)

func newRestoreCommand(g *globals) *cobra.Command {
	var identity string
	var replace bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put a backup back, and go on from there", Args: takes("the file"), GroupID: groupServer,
		Long: `Put a backup back, into the data folder of a serve that does not run, or with --nats
into a NATS that no Gridhook runs on. Then start it: triggers that were not walked to
their end are walked on, and retries are made. What was delivered after the backup is
delivered again, with the same webhook-id.

Where there is something already it refuses; --replace deletes that, in a data folder
once what the backup has stands in its place, and in a NATS before. The whole backup is
read and checked before anything is touched. The operator's key is not in a backup: a
new one is made at the first start, unless one is given.`,
		Example: `  gridhook restore gridhook.backup --identity backup.key --data /var/lib/gridhook
  gridhook restore gridhook.backup --identity backup.key --nats nats://10.0.0.5:4222 --nats-replicas 3`,
	}
	flags := cmd.Flags()
	config.AddFlags(flags, config.Roles()...)
	flags.StringVar(&identity, "identity", "", "the `file` with the private key to the backup")
	flags.BoolVar(&replace, "replace", false, "delete what is there already")
	g.outputFlags(flags)
	_ = cmd.MarkFlagRequired("identity") // it was added above
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return g.checkRequired(cmd) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loaded, err := config.Load(config.Meant(flags, g.environ), flags, g.environ)
		if err != nil {
			return err
		}
		b, err := g.openBackup(args[0], identity)
		if err != nil {
			return err
		}
		o := app.OptionsOf(loaded.Config)
		o.Log = slog.New(slog.NewTextHandler(g.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
		say(g.err, "restoring into %s\n", restoreTarget(o))
		done := g.newProgress("messages", int64(b.Messages())) //nolint:gosec // a file does not have as many
		defer done.end()
		b.Progress = func(stream string, n uint64) {
			done.show(int64(n), fmt.Sprintf("%d of %d messages restored, %s", n, b.Messages(), stream)) //nolint:gosec // as above
		}
		if err := app.Restore(cmd.Context(), o, b, replace); err != nil {
			return err
		}
		done.end()
		return g.show(b, func(w io.Writer) {
			showBackup(w, b)
			row(w, "restored", "start gridhook to go on")
		})
	}
	return cmd
}

// restoreTarget describes the target of a restore by its settings.
func restoreTarget(o app.Options) string {
	if o.Role == app.RoleServe {
		return "the data folder " + o.Data + " (--data)"
	}
	return fmt.Sprintf("the NATS of --nats, %d replicas of each stream (--nats-replicas)", max(o.Streams.Replicas, 1))
}
