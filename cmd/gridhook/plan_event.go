package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

func newPlanEvent(g *globals) *cobra.Command {
	r := resource[storage.PlanEvent]{
		g: g, noun: "event", plural: "events", path: "/v1/admin/plan_events", owned: true, unpaged: true, scope: g.ownedOrShared,
		columns: []any{"ID", "KIND", "NAME", "FROM", "TO", "ADDER $/kWh", "PRICE $/kWh"},
		cells: func(e storage.PlanEvent) []any {
			return []any{e.ID, e.Kind, e.Name, moment(e.From), moment(e.To), optionalRate(e.Adder), optionalRate(e.Price)}
		},
	}
	cmd := group("event", "Events of a plan: critical peaks and rebates", newPlanEventCreate(g, r), r.listOf(operation[storage.PlanEvent]{
		use: "list PLAN", short: "List the events of a plan", takes: []string{"the plan"},
		example: "  gridhook plan event list pge-e-elec", prepare: ofPlan,
	}), newPlanEventDelete(r))
	cmd.GroupID = "" // it is below plan
	return cmd
}

func newPlanEventCreate(g *globals, events resource[storage.PlanEvent]) *cobra.Command {
	var from, to string
	var adder, price, rebate float64
	var e client.NewPlanEvent
	homes := affected{g: g}
	cmd := &cobra.Command{
		Use: "create PLAN", Short: "Announce an event, which changes the signal of the homes on the plan", Args: takes("the plan"),
		Example: `  gridhook plan event create tou --from 2026-07-02T21:00:00Z --to 2026-07-03T01:00:00Z --adder 0.60
  gridhook plan event create tou --from 2h --to 5h --rebate 1.25 --name "peak day" --trigger`,
		RunE: func(cmd *cobra.Command, args []string) error {
			start, end, err := window("--from", from, "--to", to, time.Now())
			if err != nil {
				return err
			}
			if start == nil {
				return usagef("--from and --to must be given")
			}
			e.OrganizationID, e.PlanID, e.From, e.To, e.Kind = g.org, args[0], *start, *end, pricing.CriticalPeak
			switch flags := cmd.Flags(); {
			case flags.Changed("adder"):
				e.Adder = &adder
			case flags.Changed("price"):
				e.Price = &price
			default:
				e.Kind, e.Adder = pricing.PeakRebate, &rebate
			}
			return events.callAll(func(c *client.Client) ([]storage.PlanEvent, error) {
				made, err := c.CreatePlanEvent(cmd.Context(), e)
				if err == nil {
					err = homes.of(cmd.Context(), c, args[0])
				}
				return []storage.PlanEvent{made}, err
			})
		},
	}
	homes.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&e.ID, "id", "", "its `identifier`, by default made of its kind and start")
	flags.StringVar(&e.Name, "name", "", "its `name`")
	flags.StringVar(&from, "from", "", "its start: a `time`, or a duration from now")
	flags.StringVar(&to, "to", "", "its end: a `time`, or a duration from now")
	flags.Float64Var(&adder, "adder", 0, "a critical peak: what comes on top of the plan's price, in $/kWh")
	flags.Float64Var(&price, "price", 0, "a critical peak: what is paid in the place of the plan's price, in $/kWh")
	flags.Float64Var(&rebate, "rebate", 0, "a rebate: what a kWh not used earns, in $/kWh")
	cmd.MarkFlagsMutuallyExclusive("adder", "price", "rebate")
	cmd.MarkFlagsOneRequired("adder", "price", "rebate")
	return g.ownedOrShared(cmd)
}

// ofPlan sets the plan of an operation on plan events.
func ofPlan(_ *cobra.Command, args []string, body fields) error {
	body["planId"] = args[0]
	return nil
}

func newPlanEventDelete(r resource[storage.PlanEvent]) *cobra.Command {
	homes, plan := affected{g: r.g}, ""
	cmd := r.removeOf(operation[storage.PlanEvent]{
		use: "delete PLAN EVENT", short: "Call an event off", takes: []string{"the plan", "the event"},
		example: "  gridhook plan event delete ev CRITICAL_PEAK-2026-07-02T21:00:00Z",
		prepare: func(cmd *cobra.Command, args []string, body fields) error {
			plan = args[0]
			return ofPlan(cmd, args, body)
		},
		after: func(ctx context.Context, c *client.Client, _ storage.PlanEvent) error { return homes.of(ctx, c, plan) },
	})
	homes.add(cmd)
	return cmd
}

// optionalRate formats a rate that may be absent.
func optionalRate(v *float64) string {
	if v == nil {
		return "-"
	}
	return rate(*v)
}
