package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing"
)

// affected adds a flag to commands that change a plan's prices. The flag triggers only
// the homes on the plan, and on plans with the plan as a part: of the named organization,
// or of every organization with such homes if the plan is shared.
type affected struct {
	g       *globals
	plan    string
	trigger bool
}

func (a *affected) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.trigger, "trigger", false, "delivery of new signals to the homes on the plan afterwards")
}

// triggerHomes triggers the homes on the plan if the flag is set. It continues with the
// other organizations after a failure. It returns the response unchanged.
func (a *affected) triggerHomes(ctx context.Context, c *client.Client, response json.RawMessage) (json.RawMessage, error) {
	if !a.trigger {
		return response, nil
	}
	plans, err := a.composed(ctx, c)
	organizations := []string{a.g.org}
	if a.g.org == "" && err == nil {
		organizations, err = havingHomesOn(ctx, c, plans)
	}
	if err != nil {
		return nil, err
	}
	if len(organizations) == 0 {
		say(a.g.err, "no home is on plan %s: nothing to trigger\n", a.plan)
	}
	failed := 0
	for _, org := range organizations {
		accepted, err := c.For(org).Trigger(ctx, client.TriggerRequest{RatePlanIDs: plans})
		if err != nil {
			failed++
			say(a.g.err, "homes of %s not triggered: %v\n", org, err)
			continue
		}
		say(a.g.err, "triggered %d homes of %s: %s\n", accepted.Homes, org, accepted.TriggerID)
	}
	if failed > 0 {
		return nil, fmt.Errorf("%w: the plan is changed, but the homes of %d of %d organizations are not triggered: run gridhook trigger --org ORG --plan %s", errPartly, failed, len(organizations), a.plan)
	}
	return response, nil
}

// composed returns the plan, and the plans of the same owner with the plan as a part.
func (a *affected) composed(ctx context.Context, c *client.Client) ([]string, error) {
	all, err := client.All(ctx, func(ctx context.Context, p client.Page) ([]client.Plan, string, error) {
		return c.Plans(ctx, a.g.org, p)
	})
	plans := []string{a.plan}
	for _, p := range all {
		if slices.ContainsFunc(p.Parts, func(part pricing.PlanPart) bool { return part.PlanID == a.plan }) {
			plans = append(plans, p.ID)
		}
	}
	return plans, err
}

// havingHomesOn returns the organizations that have homes on one of the plans.
func havingHomesOn(ctx context.Context, c *client.Client, plans []string) (organizations []string, err error) {
	all, err := client.All(ctx, c.Organizations)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if slices.ContainsFunc(plans, func(plan string) bool {
			homes, _, err := c.HomesOn(ctx, all[i].ID, plan, client.Page{Limit: 1})
			return len(homes) > 0 || err != nil // the trigger reports the error
		}) {
			organizations = append(organizations, all[i].ID)
		}
	}
	return organizations, nil
}
