package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes beside 0.
const (
	exitFailure = 1
	exitUsage   = 2
)

// newRoot is the command with all its subcommands. To add one, write a function
// like the others in a file of its own, and list it here.
func newRoot(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:   "gridhook",
		Short: "Price signals for homes, delivered as signed webhooks",
		Long: `Gridhook prices homes by their tariffs and delivers the price signals to
partners as signed webhooks.

"gridhook serve" is the whole service in one process. The other commands talk to
it by its admin address, with the operator's key.`,
		Example: `  gridhook serve
  gridhook org create --id acme --name "Acme Energy"
  gridhook key create --org acme
  gridhook trigger --org acme --watch`,
		Version:      g.version.Version,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(g.in)
	root.SetOut(g.out)
	root.SetErr(g.err)
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "The server:"},
		&cobra.Group{ID: groupOperate, Title: "Operating a server:"},
		&cobra.Group{ID: groupTry, Title: "Trying and measuring:"},
	)
	root.AddCommand(
		newServeCommand(g), newAPICommand(g), newWorkerCommand(g), newDoctorCommand(g), newRestoreCommand(g),
		newOrgCommand(g), newKeyCommand(g), newHomeCommand(g), newPlanCommand(g), newMarketCommand(g), newImportCommand(g),
		newEndpointCommand(g), newTriggerCommand(g), newDeliveryCommand(g), newScheduleCommand(g), newSignalCommand(g), newBillCommand(g), newSavingsCommand(g), newBackupCommand(g),
		newDemoCommand(g), newListenCommand(g), newVerifyCommand(g), newBenchCommand(g), newBenchSinkCommand(g), newBenchLoadCommand(g), newBenchNATSCommand(g),
		newVersionCommand(g), newConfigReferenceCommand(g),
	)
	root.AddCommand(newHelpTopics()...)
	g.prepare(root)
	return root
}

// The groups of subcommands in the help.
const (
	groupServer  = "server"
	groupOperate = "operate"
	groupTry     = "try"
)

// prepare makes a command and those below it note when they begin to run: an
// error before that is one of usage.
func (g *globals) prepare(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			g.running = true
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		g.prepare(sub)
	}
}

// execute runs the command line and returns the exit code.
func (g *globals) execute(ctx context.Context, args []string) int {
	root := newRoot(g)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case g.running && !isUsage(err):
		say(g.err, "gridhook: %s\n", g.sentence(err))
		if errors.Is(err, errDoubt) {
			return exitDoubt
		}
		return exitFailure
	default:
		say(g.err, "gridhook: %s\n", seeHelp(usageSentence(err), cmd))
		return exitUsage
	}
}

// group is a command that only has others below it.
func group(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, GroupID: groupOperate,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				cmd.SuggestionsMinimumDistance = 2 // letters that may differ
				if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
					return usagef("%q has no command %q: did you mean %s", cmd.CommandPath(), args[0], strings.Join(meant, " or "))
				}
				return usagef("%q has no command %q", cmd.CommandPath(), args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}
