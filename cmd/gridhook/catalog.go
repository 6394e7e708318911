package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
)

func newPlanCatalog(g *globals) *cobra.Command {
	var utility, search string
	r := resource{
		g: g, plural: "matching plans",
		columns: "ID:id, STATE:state, UTILITY:utility, NAME:name, AS OF:sourceDate, NEWER:newer, CAVEATS:caveats", more: "EIA ID:eiaId, TIMEZONE:timezone, SOURCE:source",
		derive: func(plan record) {
			if plan.text("caveat") != "" {
				plan["caveats"] = "yes"
			}
		},
	}
	cmd := &cobra.Command{
		Annotations: map[string]string{connection: noConnection},
		Use:         "catalog", Short: "List the plans of the built-in catalog, without a server", Args: takes(),
		Long: `List the rate plans that Gridhook includes: residential plans of US utilities, from
tariff sheets and from the US Utility Rate Database. "gridhook plan add" creates one of
them on a server. A plan with a caveat has a lower confidence; the JSON says why.`,
		Example: `  gridhook plan catalog --utility "pacific gas"
  gridhook plan catalog --search "pg&e e-elec"
  gridhook plan catalog --utility 4110 --search hourly --json`,
		RunE: func(_ *cobra.Command, _ []string) error {
			return r.showAll(append([]catalog.Plan{}, catalog.Find(utility, search)...)) // no null in JSON
		},
	}
	cmd.Flags().StringVar(&utility, "utility", "", "`words` of the utility's name, its state or its EIA number (default all)")
	cmd.Flags().StringVar(&search, "search", "", "`words` of the plan's utility, name or identifier (default all)")
	return cmd
}

func newPlanAdd(r resource) *cobra.Command {
	var parts []string
	cmd := r.command(operation{
		use: "add [CATALOG_ID]", path: "import", short: "Create or replace a plan from the catalog, or from parts", takes: []string{},
		long: `Create or replace a rate plan: a plan of the catalog, or a plan composed of parts. The
prices of the parts add up: the DELIVERY of the utility, the GENERATION of a supplier,
and each ADJUSTMENT, such as a discount. The percentages of an ADJUSTMENT also apply to
the parts before it, or only to the parts after its colon.`,
		example: `  gridhook plan add pge-e-elec
  gridhook plan add pge-ev2-a --id ev --org acme
  gridhook plan add --id cca --part DELIVERY=delivery --part GENERATION=mce --part ADJUSTMENT=care:delivery,mce`,
		flags: []bodyFlag{
			{name: "id", help: "`identifier` of the plan, as homes name it (default the catalog's)"},
		},
		prepare: func(_ *cobra.Command, args []string, body fields) error {
			if len(parts) > 0 {
				return composedPlan(body, args, parts)
			}
			if len(args) == 0 {
				return usagef("name a plan of the catalog, or parts with --part")
			}
			if _, err := inCatalog(args[0]); err != nil {
				return err
			}
			body["catalogId"] = args[0]
			if body["id"] == nil {
				body["id"] = args[0]
			}
			return nil
		},
	})
	cmd.Args = takesUpTo(1)
	cmd.Flags().StringArrayVar(&parts, "part", nil, "`part` of a composed plan: ROLE=PLAN, or ADJUSTMENT=PLAN:PLAN,PLAN (repeatable)")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return catalogIDs(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// composedPlan sets the parts of a composed plan.
func composedPlan(body fields, args, parts []string) error {
	if len(args) > 0 {
		return usagef("--part conflicts with the plan %s of the catalog", args[0])
	}
	if body["id"] == nil {
		return usagef("--id must be given with --part")
	}
	var all []pricing.PlanPart
	for _, text := range parts {
		role, plan, ok := strings.Cut(text, "=")
		if !ok {
			return usagef("--part must be ROLE=PLAN, not %q", text)
		}
		part := pricing.PlanPart{Role: pricing.PlanRole(strings.ToUpper(role))}
		var others string
		if part.PlanID, others, ok = strings.Cut(plan, ":"); ok {
			part.AppliesTo = strings.Split(others, ",")
		}
		all = append(all, part)
	}
	body["parts"] = all
	return nil
}

func catalogIDs() (ids []string) {
	for _, p := range catalog.All() {
		ids = append(ids, p.ID)
	}
	return ids
}

// maxSuggestions limits the suggested plans of one error.
const maxSuggestions = 10

// inCatalog returns a plan of the catalog. If there is none, the error suggests the plans that
// begin with the identifier, such as the plans of PG&E's baseline territories, or else the
// nearest plan.
func inCatalog(id string) (plan catalog.Plan, err error) {
	if plan, known := catalog.ByID(id); known {
		return plan, nil
	}
	meant := slices.DeleteFunc(catalogIDs(), func(known string) bool { return id == "" || !strings.HasPrefix(known, id) })
	if more := len(meant) - maxSuggestions; more > 0 {
		return plan, usagef("plan %q not found in the catalog: did you mean %s, or one of %d more", id, strings.Join(meant[:maxSuggestions], ", "), more)
	}
	if near := config.Nearest(id, catalogIDs()); len(meant) == 0 && near != "" {
		meant = []string{near}
	}
	if len(meant) == 0 {
		return plan, usagef("plan %q not found in the catalog: run gridhook plan catalog for a list", id)
	}
	return plan, usagef("plan %q not found in the catalog: did you mean %s", id, strings.Join(meant, " or "))
}
