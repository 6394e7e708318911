package main

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
)

func newRestoreCommand(g *globals) *cobra.Command {
	var identity string
	var replace bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup", Args: takes("the file"),
		Long: `Restore a backup into the data folder of a stopped serve, or with --nats into a NATS
without a running Gridhook. Start Gridhook afterwards: it continues unfinished triggers
and retries. Messages that were delivered after the backup are delivered again, with the
same webhook-id.

If the target has data, the command fails unless --replace is set. With --replace it
deletes the data: in a data folder after the restore is complete, in a NATS before the
restore. It checks the whole backup before it changes anything. The operator's key is not
in a backup: the first start creates a new key unless a setting gives one.

Other settings of the process are accepted and do not matter. The retention settings
apply at once: give those of the process.`,
		Example: `  gridhook restore gridhook.backup --identity backup.key --data /var/lib/gridhook
  gridhook restore gridhook.backup --identity backup.key --nats nats://10.0.0.5:4222 --nats-replicas 3`,
	}
	flags := cmd.Flags()
	config.AddFlags(flags, config.Roles()...)
	flags.VisitAll(func(f *pflag.Flag) { // a restore accepts the settings of the process and uses few
		f.Hidden = !strings.HasPrefix(f.Name, "nats") && !slices.Contains([]string{config.ConfigFlag, "data", "max-store", "audit-age", "receipts-age", "triggers-age"}, f.Name)
	})
	flags.StringVar(&identity, "identity", "", "`file` with the private key of the backup")
	flags.BoolVar(&replace, "replace", false, "deletion of the data that the target already has")
	g.outputFlags(flags)
	_ = cmd.MarkFlagRequired("identity") // it was added above
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return g.checkRequired(cmd) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loaded, err := config.Load(config.InferRole(flags, g.environ), flags, g.environ)
		if err != nil {
			return err
		}
		if loaded.Config.Role != config.Serve && flags.Changed("data") && !flags.Changed("nats") {
			return usagef("--data and the setting nats name two targets: add --nats \"\" to restore into the folder")
		}
		b, err := g.openBackup(args[0], identity)
		if err != nil {
			return err
		}
		o := app.Options{Config: loaded.Config, Log: slog.New(slog.NewTextHandler(g.err, &slog.HandlerOptions{Level: slog.LevelWarn}))}
		target := "the NATS of --nats"
		if loaded.Config.Role == config.Serve {
			target = "the data folder " + loaded.Config.Data + " (--data)"
		}
		say(g.err, "restoring into %s\n", target)
		progress := g.newProgress()
		defer progress.end()
		b.Progress = func(stream string, n uint64) {
			progress.show(fmt.Sprintf("%d of %d messages restored, %s", n, b.Messages(), stream), int64(n), int64(b.Messages())) //nolint:gosec // a file does not have as many
		}
		if err := app.Restore(cmd.Context(), o, b, replace); err != nil {
			return err
		}
		progress.end()
		return g.show(b, func(w io.Writer) {
			showBackup(w, b)
			say(w, "\nThe backup is restored into %s. Start gridhook to continue.\n", target)
		})
	}
	return cmd
}
