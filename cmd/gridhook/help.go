package main

import (
	"github.com/spf13/cobra"
)

// newHelpTopics returns the help pages that are not commands.
func newHelpTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "exit-codes", Short: "Exit codes",
			Long: `The exit codes of every command:

  0  The command succeeded.
  1  The command failed, fully or partly: the server refused, did not respond or is not
     ready (status), a line of an import was wrong, a home was not reached (trigger
     --watch), an endpoint or a channel did not accept a test (endpoint test, channel
     test), the fetch of a source failed (source check), a webhook does not verify
     (verify), a check failed (doctor), or a signal ended the command.
  2  The command line or a setting is wrong. The command did nothing.
  3  Only doctor: no check failed, but there is a warning or an unknown result.

An error is one sentence on standard error. It names the failure and the remedy.`,
		},
		{
			Use: "output", Short: "Output formats, colors and progress",
			Long: `Results go to standard output. Errors, progress and everything else go to standard
error.

The result is a table for people. -o wide adds columns. -o json or --json prints JSON for
programs; a list is a JSON array. The form of the JSON is stable from version to version.
The text may change.

Long work shows its progress on standard error: on a terminal in one line, elsewhere in a
new line every 5 s. Colors appear only on terminals. NO_COLOR=1 and TERM=dumb turn them
off there too. Control characters in names and responses are shown as spaces.`,
		},
	}
}
