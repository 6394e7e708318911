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
func (r resource[T]) completeID(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || r.cells == nil || r.g.takeEnvironment(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	c, err := r.g.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	body, _ := r.body(cmd, nil, nil, nil) // without flags no error is possible
	body["limit"] = 100
	items, err := r.all(ctx, c, body)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, item := range items {
		ids = append(ids, r.cells(item)[0].(string))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
