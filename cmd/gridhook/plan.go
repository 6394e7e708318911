package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

func newPlanCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "plan", plural: "plans", path: "/v1/admin/plans", owned: true, scope: g.ownedOrShared, derive: planOwner,
		columns: "ID:id, UTILITY:utility, NAME:name, UPDATED:updatedAt", more: "PARTS:composedOf, ORGANIZATION:organizationId, CREATED:createdAt",
		fields: "plan:id, for:owner, utility:utility, name:name, parts:composedOf, created:createdAt, updated:updatedAt",
	}
	return g.talks(group("plan", "Rate plans: the tariffs of homes",
		newPlanCatalog(g), newPlanAdd(r), newPlanImport(r),
		r.list("List the shared plans, or the plans of an organization", "  gridhook plan list --org acme"),
		r.get("Show a plan; --json includes its tariff", "  gridhook plan get pge-e-elec"),
		r.remove("Delete a plan; its homes have no price afterwards", "  gridhook plan delete pge-e-elec"),
		newPlanEvent(g)))
}

// ownedOrShared adds the flag that names a plan's owner.
func (g *globals) ownedOrShared(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&g.org, "org", "", "`organization` that owns it; all organizations share it by default (GRIDHOOK_ORG)")
	return cmd
}

func newPlanImport(r resource) *cobra.Command {
	homes := affected{g: r.g}
	return homes.command(r, operation{
		use: "import FILE", path: "import", short: "Create or replace a plan from a tariff", takes: []string{"the tariff's file"},
		long: `Create or replace a rate plan from a tariff in the JSON format of the US Utility Rate
Database. The tariff may be a bare object or a response of the database's API with
"items". The file "-" is standard input.`,
		example: `  gridhook plan import --id pge-e-elec tariff.json
  curl -s "$URDB_URL" | gridhook plan import --id pge-e-elec --org acme -`,
		flags: []bodyFlag{
			{name: "id", help: "`identifier` of the plan, as homes name it", required: true},
			{name: "name", help: "`name` of the plan (default the tariff's)"},
			{name: "utility", help: "`utility` of the plan (default the tariff's)"},
		},
		prepare: func(_ *cobra.Command, args []string, body fields) error {
			b, err := readText(args[0], r.g.in)
			if err == nil && !json.Valid(b) {
				err = usagef("%s is not JSON", args[0])
			}
			body["tariff"] = json.RawMessage(b)
			homes.plan, _ = body["id"].(string)
			return err
		},
	})
}

// planOwner adds a description of the homes that can have a plan, and of its parts.
func planOwner(r record) {
	if composed, err := convert[client.Plan](r); err == nil && composed.Parts != nil {
		words := make([]string, len(composed.Parts))
		for i, part := range composed.Parts {
			words[i] = fmt.Sprintf("%s=%s", part.Role, part.PlanID)
			if len(part.AppliesTo) > 0 {
				words[i] += ":" + strings.Join(part.AppliesTo, ",")
			}
		}
		r["composedOf"] = strings.Join(words, " ")
	}
	r["owner"] = "the homes of all organizations"
	if org := r.text("organizationId"); org != "" {
		r["owner"] = "only the homes of " + org
	}
}
