package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

func newPlanCommand(g *globals) *cobra.Command {
	r := resource[client.Plan]{
		g: g, noun: "plan", plural: "plans", path: "/v1/admin/plans", owned: true, scope: g.ownedOrShared, show: showPlan,
		columns: []any{"ID", "UTILITY", "NAME", "UPDATED"}, more: []any{"ORGANIZATION", "CREATED"},
		cells: func(p client.Plan) []any {
			return []any{p.ID, or(p.Utility), or(p.Name), moment(p.UpdatedAt), or(p.OrganizationID), moment(p.CreatedAt)}
		},
	}
	return g.talks(group("plan", "Rate plans: the tariffs that homes are priced by",
		newPlanCatalog(g), newPlanAdd(r), newPlanImport(r),
		r.list("List the shared plans, or those of an organization", "  gridhook plan list --org acme"),
		r.get("Show a plan; with --json its tariff too", "  gridhook plan get pge-e-elec"),
		r.remove("Remove a plan; homes that name it have no price then", "  gridhook plan delete pge-e-elec"),
		newPlanEvent(g)))
}

// ownedOrShared adds the flag that names a plan's owner.
func (g *globals) ownedOrShared(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&g.org, "org", "", "the `organization` that the plan belongs to; by default all organizations share it (GRIDHOOK_ORG)")
	return cmd
}

func newPlanImport(r resource[client.Plan]) *cobra.Command {
	homes := affected{g: r.g}
	cmd := r.command(operation[client.Plan]{
		use: "import FILE", path: "import", short: "Create or replace a plan from a tariff", takes: []string{"the tariff's file"},
		long: `Create or replace a rate plan from a tariff in the JSON of the US Utility Rate
Database, bare or as its API answers, inside "items". The file "-" is the
standard input.`,
		example: `  gridhook plan import --id pge-e-elec tariff.json
  curl -s "$URDB_URL" | gridhook plan import --id pge-e-elec --org acme -`,
		flags: []bodyFlag{
			{name: "id", field: "id", value: "", help: "the `identifier` that homes name it by", required: true},
			{name: "name", field: "name", value: "", help: "its `name`, by default the tariff's"},
			{name: "utility", field: "utility", value: "", help: "its `utility`, by default the tariff's"},
		},
		prepare: func(_ *cobra.Command, args []string, body fields) error {
			b, err := r.g.readFile(args[0])
			if err == nil && !json.Valid(b) {
				err = usagef("%s is not JSON", args[0])
			}
			body["tariff"] = json.RawMessage(b)
			return err
		},
		after: func(ctx context.Context, c *client.Client, made client.Plan) error { return homes.of(ctx, c, made.ID) },
	})
	homes.add(cmd)
	return cmd
}

func showPlan(w io.Writer, p client.Plan) {
	row(w, "plan", p.ID)
	if p.OrganizationID != "" {
		row(w, "for", "the homes of "+p.OrganizationID+" alone")
	} else {
		row(w, "for", "the homes of all organizations")
	}
	row(w, "utility", or(p.Utility))
	row(w, "name", or(p.Name))
	row(w, "created", moment(p.CreatedAt))
	row(w, "updated", moment(p.UpdatedAt))
}
