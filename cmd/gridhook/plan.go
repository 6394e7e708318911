package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

func newPlanCommand(g *globals) *cobra.Command {
	return g.talks(group("plan", "Rate plans: the tariffs that homes are priced by",
		newPlanCatalog(g), newPlanAdd(g), newPlanImport(g), newPlanList(g), newPlanGet(g), newPlanDelete(g), newPlanEvent(g)))
}

// ownedOrShared adds the flag that names whose plan it is.
func (g *globals) ownedOrShared(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&g.org, "org", "", "the `organization` that the plan belongs to; by default all organizations share it (GRIDHOOK_ORG)")
	return cmd
}

func newPlanImport(g *globals) *cobra.Command {
	var p client.NewPlan
	homes := affected{g: g}
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Create or replace a plan from a tariff", Args: takes("the tariff's file"),
		Long: `Create or replace a rate plan from a tariff in the JSON of the US Utility Rate
Database, bare or as its API answers, inside "items". The file "-" is the
standard input.`,
		Example: `  gridhook plan import --id pge-e-elec tariff.json
  curl -s "$URDB_URL" | gridhook plan import --id pge-e-elec --org acme -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := g.readFile(args[0])
			if err != nil {
				return err
			}
			if p.Tariff = b; !json.Valid(b) {
				return usagef("%s is not JSON", args[0])
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			p.OrganizationID = g.org
			made, err := c.ImportPlan(cmd.Context(), p)
			if err != nil {
				return err
			}
			if err := homes.of(cmd.Context(), c, made.ID); err != nil {
				return err
			}
			return g.showPlan(made)
		},
	}
	homes.add(cmd)
	cmd.Flags().StringVar(&p.ID, "id", "", "the `identifier` that homes name it by")
	cmd.Flags().StringVar(&p.Name, "name", "", "its `name`, by default the tariff's")
	cmd.Flags().StringVar(&p.Utility, "utility", "", "its `utility`, by default the tariff's")
	_ = cmd.MarkFlagRequired("id") // it was added above
	return g.ownedOrShared(cmd)
}

func newPlanList(g *globals) *cobra.Command {
	return g.ownedOrShared(&cobra.Command{
		Use: "list", Short: "List the shared plans, or those of an organization",
		Example: `  gridhook plan list --org acme`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), func(ctx context.Context, p client.Page) ([]client.Plan, string, error) {
				return c.Plans(ctx, g.org, p)
			})
			if err != nil {
				return err
			}
			return showList(g, all, "plans", []any{"ID", "UTILITY", "NAME", "UPDATED"}, func(p client.Plan) []any {
				return []any{p.ID, or(p.Utility), or(p.Name), moment(p.UpdatedAt)}
			})
		},
	})
}

func newPlanGet(g *globals) *cobra.Command {
	return g.ownedOrShared(&cobra.Command{
		Use: "get PLAN", Short: "Show a plan; with --json its tariff too",
		Example: `  gridhook plan get pge-e-elec`, Args: takes("the plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			p, err := c.GetPlan(cmd.Context(), g.org, args[0])
			if err != nil {
				return err
			}
			return g.showPlan(p)
		},
	})
}

func newPlanDelete(g *globals) *cobra.Command {
	return g.ownedOrShared(&cobra.Command{
		Use: "delete PLAN", Short: "Remove a plan; homes that name it have no price then",
		Example: `  gridhook plan delete pge-e-elec`, Args: takes("the plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			if err := c.DeletePlan(cmd.Context(), g.org, args[0]); err != nil {
				return err
			}
			return g.showDeleted(args[0])
		},
	})
}

func (g *globals) showPlan(p client.Plan) error {
	return g.show(p, func(w io.Writer) {
		row(w, "plan", p.ID)
		if p.OrganizationID != "" {
			row(w, "organization", p.OrganizationID)
		}
		row(w, "utility", or(p.Utility))
		row(w, "name", or(p.Name))
		row(w, "created", moment(p.CreatedAt))
		row(w, "updated", moment(p.UpdatedAt))
	})
}
