package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

func newPlanEvent(g *globals) *cobra.Command {
	cmd := group("event", "Events of a plan: critical peaks and rebates", newPlanEventCreate(g), newPlanEventList(g), newPlanEventDelete(g))
	cmd.GroupID = "" // it is below plan
	return cmd
}

func newPlanEventCreate(g *globals) *cobra.Command {
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
			c, err := g.connect()
			if err != nil {
				return err
			}
			made, err := c.CreatePlanEvent(cmd.Context(), e)
			if err != nil {
				return err
			}
			if err := homes.of(cmd.Context(), c, args[0]); err != nil {
				return err
			}
			return showEvents(g, []storage.PlanEvent{made})
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

func newPlanEventList(g *globals) *cobra.Command {
	return g.ownedOrShared(&cobra.Command{
		Use: "list PLAN", Short: "List the events of a plan", Args: takes("the plan"),
		Example: `  gridhook plan event list pge-e-elec`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			events, err := c.PlanEvents(cmd.Context(), client.OfPlan{OrganizationID: g.org, PlanID: args[0]})
			if err != nil {
				return err
			}
			return showEvents(g, events)
		},
	})
}

func newPlanEventDelete(g *globals) *cobra.Command {
	homes := affected{g: g}
	cmd := &cobra.Command{
		Use: "delete PLAN EVENT", Short: "Call an event off", Args: takes("the plan", "the event"),
		Example: `  gridhook plan event delete ev CRITICAL_PEAK-2026-07-02T21:00:00Z`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			if err := c.DeletePlanEvent(cmd.Context(), client.OfPlan{OrganizationID: g.org, PlanID: args[0]}, args[1]); err != nil {
				return err
			}
			if err := homes.of(cmd.Context(), c, args[0]); err != nil {
				return err
			}
			return g.showDeleted(args[1])
		},
	}
	homes.add(cmd)
	return g.ownedOrShared(cmd)
}

func showEvents(g *globals, events []storage.PlanEvent) error {
	return showList(g, events, "events", []any{"ID", "KIND", "NAME", "FROM", "TO", "ADDER $/kWh", "PRICE $/kWh"}, func(e storage.PlanEvent) []any {
		return []any{e.ID, e.Kind, e.Name, moment(e.From), moment(e.To), optionalRate(e.Adder), optionalRate(e.Price)}
	})
}

// optionalRate is a rate that may be absent.
func optionalRate(v *float64) string {
	if v == nil {
		return "-"
	}
	return rate(*v)
}
