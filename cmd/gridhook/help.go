package main

import (
	"github.com/spf13/cobra"
)

// newHelpTopics returns the help pages that are not commands.
func newHelpTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "exit-codes", Short: "What the exit codes mean",
			Long: `The exit codes of every command:

  0  it is done: what was asked for has happened
  1  it is not, or not all of it: a server refused or did not answer, a line of an
     import was wrong, a home was not reached (trigger --watch), an endpoint did not
     take a test, a webhook does not verify, a check of doctor failed
  2  the command line or a setting is wrong; nothing was done
  3  doctor knows of nothing that is wrong, but there is a warning, or something
     could not be found out

What went wrong is told in one sentence on standard error, and what to do about it.`,
		},
		{
			Use: "output", Short: "What is printed where: text, JSON, colours, progress",
			Long: `What a command was asked for goes to standard output: a table for people, one with
more columns with -o wide, and JSON with -o json or --json, which keeps its form from
version to version; the text may change.
Lists are JSON arrays. All else, such as errors and the progress of long work,
goes to standard error.

Progress bars and colours are for terminals alone: what goes to a file or a pipe
has a line of progress every 5 s in their place. NO_COLOR=1 or TERM=dumb keep colours away there, too. Control
characters in names and answers are shown as spaces.`,
		},
	}
}

// completes adds shell completion of a flag's values.
func completes(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}
