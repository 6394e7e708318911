package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completeTimeout is the timeout of a shell completion's request.
const completeTimeout = 2 * time.Second

// completeID completes the identifiers that the server lists. Without a server it
// completes nothing.
func (r resource) completeID(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 || r.columns == "" || r.g.takeEnvironment(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	body := fields{"limit": 100}
	c, err := r.g.connect()
	if err == nil && r.complete(cmd, nil, body, nil) == nil {
		items, _ := all[record](ctx, c, r, body) // without a response there is nothing to complete
		for _, item := range items {
			ids = append(ids, item.id())
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completes adds shell completion of a flag's values.
func completes(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}
