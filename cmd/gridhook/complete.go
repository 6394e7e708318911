package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completeTimeout is the timeout of a shell completion's request.
const completeTimeout = 2 * time.Second

// completeStored adds shell completion of a command's arguments and flags that name stored
// objects: the argument HOME and the flag --home are identifiers of homes. It adds completion of
// contexts and of the output format, too.
func (g *globals) completeStored(cmd *cobra.Command) {
	// The error says that there is no such flag, or that the group's flag has the completion.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("context", g.completeContexts)
	nouns := strings.Fields(strings.ToLower(cmd.Use))[1:]
	for i, noun := range nouns {
		nouns[i] = strings.Trim(noun, "[]")
	}
	if _, first := g.listFor(append(nouns, "")[0]); first && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
			if len(args) < len(nouns) {
				ids = g.identifiers(cmd, nouns[len(args)], false)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, stored := g.listFor(f.Name); !stored || f.Value.Type() == "bool" {
			return
		}
		// A flag that already completes other words keeps them.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return g.identifiers(cmd, f.Name, true), cobra.ShellCompDirectiveNoFileComp
		})
	})
}

// listFor returns the resource that lists the objects of an argument or flag.
func (g *globals) listFor(name string) (resource, bool) {
	// The key of a console link names the link.
	noun := cmp.Or(map[string]string{"org": "organization", "link": "key", "operator_key": "operator key"}[name], name)
	r, ok := g.lists[noun]
	return r, ok
}

// identifiers returns the identifiers that the server lists. If shared is set, it includes
// objects that all organizations share. Without a server it returns none.
func (g *globals) identifiers(cmd *cobra.Command, noun string, shared bool) (ids []string) {
	if cmd.Flags().Lookup("org") == nil {
		g.forOrg(cmd) // the environment or the context names the organization
	}
	if g.takeEnvironment(cmd) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	r, _ := g.listFor(noun)
	page := func() fields { return fields{"limit": 100} }
	body := page()
	c, err := g.connect()
	if err != nil || r.complete(cmd, nil, body, nil) != nil {
		return nil
	}
	items, _ := all[record](ctx, c, r, body) // without a response there is nothing to complete
	if shared && r.owned && g.org != "" {
		more, _ := all[record](ctx, c, r, page())
		items = append(items, more...)
	}
	for _, item := range items {
		ids = append(ids, item.id())
	}
	return ids
}
