package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// catalogEntry is a plan in the list of the catalog.
type catalogEntry struct {
	ID       string `json:"id"`
	Utility  string `json:"utility"`
	EIAID    int    `json:"eiaId"`
	State    string `json:"state"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
	Source   string `json:"source"`
	Caveat   string `json:"caveat"`
	// SourceDate is the day of the newest source. Newer is a plan that replaced this
	// plan.
	SourceDate string `json:"sourceDate"`
	Newer      string `json:"newer,omitempty"`
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
				found = append(found, catalogEntry{p.ID, p.Utility, p.EIAID, p.State, p.Name, p.Timezone, p.Source, p.Caveat, p.SourceDate, p.Newer})
			}
			return showList(g, found, "such plans", []any{"ID", "STATE", "UTILITY", "NAME", "AS OF", "NEWER", "DOUBTS"}, []any{"EIA ID", "TIMEZONE", "SOURCE"}, func(e catalogEntry) []any {
				doubts := ""
				if e.Caveat != "" {
					doubts = "some"
				}
				return []any{e.ID, or(e.State), e.Utility, e.Name, or(e.SourceDate), or(e.Newer), or(doubts), e.EIAID, or(e.Timezone), or(e.Source)}
			})
		},
	}
	cmd.Flags().StringVar(&utility, "utility", "", "only those of a utility, by `words` of its name, its state or its EIA number")
	cmd.Flags().StringVar(&search, "search", "", "only those with these `words` in their name or identifier")
	return cmd
}

func newPlanAdd(r resource[client.Plan]) *cobra.Command {
	cmd := r.command(operation[client.Plan]{
		use: "add CATALOG_ID", path: "import", short: "Create or replace a plan from the catalogue", takes: []string{"the plan's identifier in the catalogue"},
		example: `  gridhook plan add pge-e-elec
  gridhook plan add pge-ev2-a --id ev --org acme`,
		flags: []bodyFlag{
			{name: "id", field: "id", value: "", help: "the `identifier` that homes name it by, by default that of the catalogue"},
		},
		prepare: func(_ *cobra.Command, args []string, body fields) error {
			if err := inCatalog(args[0]); err != nil {
				return err
			}
			body["catalogId"] = args[0]
			if body["id"] == nil {
				body["id"] = args[0]
			}
			return nil
		},
	})
	cmd.ValidArgsFunction = cobra.FixedCompletions(catalogIDs(), cobra.ShellCompDirectiveNoFileComp)
	return cmd
}

func catalogIDs() (ids []string) {
	for _, p := range catalog.All() {
		ids = append(ids, p.ID)
	}
	return ids
}

// inCatalog returns nil if the plan is in the catalog. Otherwise the error suggests the
// nearest plan.
func inCatalog(id string) error {
	if _, known := catalog.ByID(id); known {
		return nil
	}
	if near := config.Nearest(id, catalogIDs()); near != "" {
		return usagef("there is no plan %q in the catalogue: did you mean %s", id, near)
	}
	return usagef("there is no plan %q in the catalogue: gridhook plan catalog lists them", id)
}
