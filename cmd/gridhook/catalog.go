package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// catalogEntry is a plan of the catalogue as it is listed.
type catalogEntry struct {
	ID       string `json:"id"`
	Utility  string `json:"utility"`
	EIAID    int    `json:"eiaId"`
	State    string `json:"state"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
	Source   string `json:"source"`
	Caveat   string `json:"caveat"`
}

func newPlanCatalog(g *globals) *cobra.Command {
	var utility, search string
	cmd := &cobra.Command{
		Use: "catalog", Short: "List the plans that Gridhook brings, without a server", Args: takes(),
		Long: `List the plans that Gridhook brings: real residential plans of US utilities, from
tariff sheets and from the US Utility Rate Database. "gridhook plan add" gives one to
the homes of a server. A plan with a caveat has less confidence, and says why.`,
		Example: `  gridhook plan catalog --utility "pacific gas"
  gridhook plan catalog --utility 4110 --search hourly --json`,
		RunE: func(_ *cobra.Command, _ []string) error {
			found := []catalogEntry{}
			for _, p := range catalog.Find(utility, search) {
				found = append(found, catalogEntry{p.ID, p.Utility, p.EIAID, p.State, p.Name, p.Timezone, p.Source, p.Caveat})
			}
			return showList(g, found, "such plans", []any{"ID", "STATE", "UTILITY", "NAME", "DOUBTS"}, func(e catalogEntry) []any {
				doubts := ""
				if e.Caveat != "" {
					doubts = "some"
				}
				return []any{e.ID, or(e.State), e.Utility, e.Name, or(doubts)}
			})
		},
	}
	cmd.Flags().StringVar(&utility, "utility", "", "only those of a utility, by `words` of its name, its state or its EIA number")
	cmd.Flags().StringVar(&search, "search", "", "only those with these `words` in their name or identifier")
	return cmd
}

func newPlanAdd(g *globals) *cobra.Command {
	var p client.NewPlan
	cmd := &cobra.Command{
		Use: "add CATALOG_ID", Short: "Create or replace a plan from the catalogue", Args: takes("the plan's identifier in the catalogue"),
		Example: `  gridhook plan add pge-e-elec
  gridhook plan add pge-ev2-a --id ev --org acme`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			p.CatalogID, p.OrganizationID = args[0], g.org
			p.ID = cmp.Or(p.ID, p.CatalogID)
			made, err := c.ImportPlan(cmd.Context(), p)
			if err != nil {
				return err
			}
			return g.showPlan(made)
		},
	}
	cmd.Flags().StringVar(&p.ID, "id", "", "the `identifier` that homes name it by, by default that of the catalogue")
	return g.ownedOrShared(cmd)
}
