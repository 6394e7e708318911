package main

import (
	"context"
	"fmt"

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

// of triggers the homes on a plan, where it was asked for. An organization that cannot be
// triggered does not keep the others from it.
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
	failed := 0
	for _, org := range organizations {
		accepted, err := c.For(org).Trigger(ctx, client.TriggerRequest{RatePlanIDs: []string{plan}})
		if err != nil {
			failed++
			say(a.g.err, "did not trigger the homes of %s: %v\n", org, err)
			continue
		}
		say(a.g.err, "triggered %d homes of %s: %s\n", accepted.Homes, org, accepted.TriggerID)
	}
	if failed > 0 {
		return fmt.Errorf("%w: the plan is changed, and the homes of %d of %d organizations were not triggered: gridhook trigger --org ORG --plan %s does it", errSome, failed, len(organizations), plan)
	}
	return nil
}
