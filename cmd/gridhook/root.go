package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/config"
)

// These are the exit codes other than 0.
const (
	exitFailure = 1
	exitUsage   = 2
)

// newRoot returns the command with all its subcommands. To add a subcommand, write a
// function in its own file and list it here.
func newRoot(g *globals) *cobra.Command {
	g.lists = map[string]resource{}
	root := &cobra.Command{
		Use:   "gridhook",
		Short: "Price signals for homes, delivered as signed webhooks",
		Long: `Gridhook prices homes by their tariffs and delivers the price signals to
partners as signed webhooks.

"gridhook serve" runs the whole service in one process. The other commands call its
admin address with the operator's key, or with --api-url the public API with a
partner's key.`,
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
	addGroup(root, "Server:",
		newServeCommand(g), newAPICommand(g), newWorkerCommand(g), newDoctorCommand(g), newRestoreCommand(g))
	addGroup(root, "Operation:",
		newOrgCommand(g), newKeyCommand(g), newOperatorCommand(g), newHomeCommand(g), newDeviceCommand(g), newPlanCommand(g), newMarketCommand(g), newImportCommand(g),
		newEndpointCommand(g), newTriggerCommand(g), newDeliveryCommand(g), newLogsCommand(g), newScheduleCommand(g), newSourceCommand(g), newChannelCommand(g), newConsoleCommand(g), newSignalCommand(g), newBillCommand(g), newSavingsCommand(g), newBackupCommand(g), newStatusCommand(g), newAuditCommand(g), newFeedbackCommand(g), newContextCommand(g))
	addGroup(root, "Trials:",
		newDemoCommand(g), newListenCommand(g), newVerifyCommand(g), newOpenAPICommand(g))
	root.AddCommand(newVersionCommand(g))
	root.AddCommand(newHelpTopics()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		hideUnused(cmd)
		help(cmd, args)
	})
	root.SetFlagErrorFunc(suggestFlag)
	g.prepare(root)
	return root
}

// refuseUnknown makes "help" fail for a command that does not exist, and "completion" for
// a shell that does not exist.
func refuseUnknown(root *cobra.Command) {
	completion, _, _ := root.Find([]string{"completion"}) // exists
	known := group("", "")
	completion.Args, completion.RunE = known.Args, known.RunE
	help, _, _ := root.Find([]string{"help"}) // exists
	help.Args = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 && found.HasSubCommands() {
			err = found.ValidateArgs(rest)
		}
		return err
	}
}

// addGroup adds subcommands that the help lists under a title.
func addGroup(root *cobra.Command, title string, subcommands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range subcommands {
		cmd.GroupID = title
	}
	root.AddCommand(subcommands...)
}

// prepare makes a command and its subcommands set running when they begin, and adds their
// shell completion. An earlier error is a usage error.
func (g *globals) prepare(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			g.running = true
			return run(cmd, args)
		}
	}
	g.completeStored(cmd)
	for _, sub := range cmd.Commands() {
		g.prepare(sub)
	}
}

// execute runs the command line and returns the exit code. A signal ends the command's
// context, so that the command removes its temporary files.
func (g *globals) execute(ctx context.Context, args []string) int {
	ctx, stop := untilSignal(ctx)
	defer stop()
	g.in = &interruptible{ctx: ctx, r: g.in}
	root := newRoot(g)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case g.running && !isUsage(err):
		if cause := context.Cause(ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
			err = cause // the name of the signal
		}
		say(g.err, "gridhook: %s\n", g.sentence(err))
		if errors.Is(err, errWarnings) {
			return exitWarnings
		}
		return exitFailure
	default:
		if cmd == root && len(args) > 1 && strings.HasPrefix(args[0], "-") {
			err = usagef("the flag %s must come after the command", args[0]) // cobra takes the next argument for its value
		}
		say(g.err, "gridhook: %s\n", usageSentence(err, cmd))
		return exitUsage
	}
}

// suggestFlag suggests a flag for a misspelled one.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	near := config.Nearest(name, names)
	for _, n := range names {
		// Other tools call these flags --url and --key. Here some commands use the short
		// names for other things, such as the URL of an endpoint.
		if n == "api-"+name || near == "" && len(name) > 2 && strings.HasPrefix(n, name) {
			near = n
		}
	}
	switch {
	case near != "":
		return fmt.Errorf("%w: did you mean --%s", err, near)
	case name == "org":
		return fmt.Errorf("%w: this command takes no organization", err)
	}
	return err
}

// group returns a command that only has subcommands.
func group(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		// A misspelled subcommand may have flags. Args then names it instead of the flags.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				cmd.SuggestionsMinimumDistance = 2 // edit distance in letters
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
