package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

// affected adds a flag to a command that changes the prices of a plan: it triggers the
// homes on the plan, and no others, of the organization that was named, or of all where
// the plan is shared.
type affected struct {
	g       *globals
	trigger bool
}

func (a *affected) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.trigger, "trigger", false, "then deliver the signals of the homes on the plan, and no others")
}

// of triggers the homes on a plan, where it was asked for.
func (a *affected) of(ctx context.Context, c *client.Client, plan string) error {
	if !a.trigger {
		return nil
	}
	organizations := []string{a.g.org}
	if a.g.org == "" {
		all, err := client.All(ctx, c.Organizations)
		if err != nil {
			return err
		}
		organizations = nil
		for i := range all {
			organizations = append(organizations, all[i].ID)
		}
	}
	for _, org := range organizations {
		accepted, err := c.For(org).Trigger(ctx, client.TriggerRequest{RatePlanIDs: []string{plan}})
		if err != nil {
			return err
		}
		say(a.g.err, "triggered %d homes of %s: %s\n", accepted.Homes, org, accepted.TriggerID)
	}
	return nil
}
