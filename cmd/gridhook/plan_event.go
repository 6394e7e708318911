package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/pricing"
)

func newPlanEvent(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "event", plural: "events", path: "/v1/admin/plan_events", owned: true, unpaged: true, scope: g.ownedOrShared,
		columns: "ID:id, KIND:kind, NAME:name, FROM:from, TO:to, ADDER $/kWh:adder, PRICE $/kWh:price",
	}
	return group("event", "Events of a plan: critical peaks and rebates", newPlanEventCreate(r), r.listOf(operation{
		use: "list PLAN", short: "List the events of a plan", takes: []string{"the plan"},
		example: "  gridhook plan event list pge-e-elec", prepare: (&affected{}).ofPlan,
	}), newPlanEventDelete(r))
}

func newPlanEventCreate(r resource) *cobra.Command {
	homes := affected{g: r.g}
	cmd := homes.command(r, operation{
		use: "create PLAN", path: "create", short: "Announce an event, which changes the signals of the plan's homes", takes: []string{"the plan"},
		example: `  gridhook plan event create tou --from 2026-07-02T21:00:00Z --to 2026-07-03T01:00:00Z --adder 0.60
  gridhook plan event create tou --from 2h --to 5h --rebate 1.25 --name "peak day" --trigger`,
		flags: []bodyFlag{
			{name: "id", help: "`identifier` of the event (default from its kind and start)"},
			{name: "name", help: "`name` of the event"},
			{name: "from", value: instantText(""), help: "start of the event: a `time`, or a duration from now", required: true},
			{name: "to", value: instantText(""), help: "end of the event: a `time`, or a duration from now", required: true},
			{name: "adder", value: 0.0, help: "critical peak: `price` on top of the plan's price, in $/kWh"},
			{name: "price", value: 0.0, help: "critical peak: `price` instead of the plan's price, in $/kWh"},
			{name: "rebate", field: "adder", value: 0.0, help: "rebate: `credit` for each kWh not used, in $/kWh"},
		},
		usual: fields{"kind": pricing.CriticalPeak},
		prepare: func(cmd *cobra.Command, args []string, body fields) error {
			if given(cmd, "rebate") {
				body["kind"] = pricing.PeakRebate
			}
			return homes.ofPlan(cmd, args, body)
		},
		asList: true,
	})
	cmd.MarkFlagsMutuallyExclusive("adder", "price", "rebate")
	cmd.MarkFlagsOneRequired("adder", "price", "rebate")
	return cmd
}

// ofPlan sets the plan of an operation on plan events.
func (a *affected) ofPlan(_ *cobra.Command, args []string, body fields) error {
	a.plan = args[0]
	body["planId"] = a.plan
	return nil
}

func newPlanEventDelete(r resource) *cobra.Command {
	homes := affected{g: r.g}
	return homes.command(r, operation{
		use: "delete PLAN EVENT", path: "{id}/delete", short: "Cancel an event", takes: []string{"the plan", "the event"}, done: "{id} is deleted.",
		example: "  gridhook plan event delete ev CRITICAL_PEAK-20260702T210000Z",
		prepare: homes.ofPlan,
	})
}
