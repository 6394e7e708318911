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

// command returns the command of an operation, with the flag. prepare of the operation sets
// the plan.
func (a *affected) command(r resource, o operation) *cobra.Command {
	o.after = a.triggerHomes
	cmd := r.command(o)
	cmd.Flags().BoolVar(&a.trigger, "trigger", false, "delivery of new signals to the homes on the plan afterwards")
	return cmd
}

// triggerHomes triggers the homes on the plan if the flag is set. It continues with the
// other organizations after a failure. It returns the response unchanged, also with an error.
func (a *affected) triggerHomes(ctx context.Context, c *client.Client, response json.RawMessage) (json.RawMessage, error) {
	if !a.trigger {
		return response, nil
	}
	organizations, err := a.organizations(ctx, c)
	if err != nil {
		return response, fmt.Errorf("the plan is changed, but its homes are not triggered: %w", err)
	}
	if len(organizations) == 0 {
		say(a.g.err, "no home is on plan %s: nothing to trigger\n", a.plan)
	}
	failed := 0
	for _, o := range organizations {
		accepted, err := c.For(o.id).Trigger(ctx, client.TriggerRequest{RatePlanIDs: o.plans})
		if err != nil {
			failed++
			say(a.g.err, "homes of %s not triggered: %v\n", o.id, err)
			continue
		}
		say(a.g.err, "triggered %s of %s: %s\n", count(accepted.Homes, "home"), o.id, accepted.TriggerID)
	}
	if failed > 0 {
		return response, fmt.Errorf("the plan is changed, but the homes of %d of %d organizations are not triggered: run gridhook trigger --org ORG --plan %s", failed, len(organizations), a.plan)
	}
	return response, nil
}

// affectedOrganization is an organization with the plans whose homes are affected.
type affectedOrganization struct {
	id    string
	plans []string
}

// organizations returns the named organization, or every organization with affected homes.
// The affected plans are the plan itself and the organization's own and shared plans with
// the plan as a part.
func (a *affected) organizations(ctx context.Context, c *client.Client) (list []affectedOrganization, err error) {
	shared, err := a.composed(ctx, c, "")
	if err != nil {
		return nil, err
	}
	ids := []string{a.g.org}
	if a.g.org == "" {
		all, err := client.All(ctx, c.Organizations)
		if err != nil {
			return nil, err
		}
		ids = nil
		for i := range all {
			ids = append(ids, all[i].ID)
		}
	}
	for _, id := range ids {
		own, err := a.composed(ctx, c, id)
		if err != nil {
			return nil, err
		}
		plans := slices.Concat([]string{a.plan}, own, shared)
		slices.Sort(plans)
		if plans = slices.Compact(plans); a.g.org != "" || hasHomesOn(ctx, c, id, plans) {
			list = append(list, affectedOrganization{id, plans})
		}
	}
	return list, nil
}

// composed returns the plans of an owner with the plan as a part.
func (a *affected) composed(ctx context.Context, c *client.Client, owner string) (plans []string, err error) {
	all, err := client.All(ctx, func(ctx context.Context, p client.Page) ([]client.Plan, string, error) {
		return c.Plans(ctx, owner, p)
	})
	for _, p := range all {
		if slices.ContainsFunc(p.Parts, func(part pricing.PlanPart) bool { return part.PlanID == a.plan }) {
			plans = append(plans, p.ID)
		}
	}
	return plans, err
}

// hasHomesOn reports whether an organization has homes on one of the plans. On an error it
// reports true: the trigger reports the error.
func hasHomesOn(ctx context.Context, c *client.Client, organization string, plans []string) bool {
	return slices.ContainsFunc(plans, func(plan string) bool {
		for page := (client.Page{Limit: 1}); ; {
			homes, next, err := c.HomesOn(ctx, organization, plan, page)
			if len(homes) > 0 || err != nil {
				return true
			}
			if next == "" {
				return false
			}
			page.After = next // a page may be empty before the last page
		}
	})
}
