package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/config"
)

func newServeCommand(g *globals) *cobra.Command {
	return newProcess(g, config.Serve, &cobra.Command{
		Use: "serve", Short: "Run everything in one process with an embedded NATS",
		Long: `Run the API, the worker and an embedded NATS JetStream in one process.

The first start creates the data folder and the operator's key in it. SIGTERM, SIGINT or
SIGHUP stops the process after its current deliveries. A second SIGTERM or SIGINT ends it
immediately. The process ignores SIGHUP if it starts with nohup.`,
		Example: `  gridhook serve
  gridhook serve --data /var/lib/gridhook --http 0.0.0.0:8080
  GRIDHOOK_LOG_LEVEL=debug gridhook serve --config /etc/gridhook.yaml
  gridhook serve --print-config`,
	})
}

func newAPICommand(g *globals) *cobra.Command {
	return newProcess(g, config.API, &cobra.Command{
		Use: "api", Short: "Run only the API, on an external NATS",
		Example: `  gridhook api --nats nats://10.0.0.5:4222 --nats-creds /etc/gridhook.creds --data /var/lib/gridhook-api`,
	})
}

func newWorkerCommand(g *globals) *cobra.Command {
	return newProcess(g, config.Worker, &cobra.Command{
		Use: "worker", Short: "Run only a worker, on an external NATS",
		Example: `  gridhook worker --nats nats://10.0.0.5:4222 --nats-replicas 3 --data /var/lib/gridhook-worker`,
	})
}

// newProcess makes a command run a role until a signal arrives.
func newProcess(g *globals, role config.Role, cmd *cobra.Command) *cobra.Command {
	cmd.Args = takes()
	config.AddFlags(cmd.Flags(), role)
	printOnly := cmd.Flags().Bool("print-config", false, "print the effective settings and exit")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := config.Load(role, cmd.Flags(), g.environ)
		if err != nil {
			return err
		}
		if *printOnly {
			return loaded.WriteYAML(g.out)
		}
		return g.run(cmd.Context(), loaded.Config, g.version.Version, g.out)
	}
	return cmd
}
