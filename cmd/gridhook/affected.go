package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

// affected adds a flag to commands that change a plan's prices. The flag triggers only
// the homes on the plan: of the named organization, or of every organization with such
// homes if the plan is shared.
type affected struct {
	g       *globals
	trigger bool
}

func (a *affected) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.trigger, "trigger", false, "then deliver the signals of the homes on the plan, and no others")
}

// of triggers the homes on a plan if the flag is set. It continues with the other
// organizations after a failure.
func (a *affected) of(ctx context.Context, c *client.Client, plan string) error {
	if !a.trigger {
		return nil
	}
	organizations := []string{a.g.org}
	if a.g.org == "" {
		var err error
		if organizations, err = havingHomesOn(ctx, c, plan); err != nil {
			return err
		}
	}
	if len(organizations) == 0 {
		say(a.g.err, "no home is on %s: nothing is triggered\n", plan)
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

// havingHomesOn returns the organizations that have homes on a plan.
func havingHomesOn(ctx context.Context, c *client.Client, plan string) (organizations []string, err error) {
	all, err := client.All(ctx, c.Organizations)
	if err != nil {
		return nil, err
	}
	for i := range all {
		homes, _, err := c.HomesOn(ctx, all[i].ID, plan, client.Page{Limit: 1})
		if len(homes) > 0 || err != nil { // the trigger reports the error
			organizations = append(organizations, all[i].ID)
		}
	}
	return organizations, nil
}
