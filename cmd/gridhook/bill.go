package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
)

// billFlags select the plan and the place of a bill. The other flags are fields of the
// request.
type billFlags struct{ plan, catalog, tariff, zipcode, timezone string }

func newBillCommand(g *globals) *cobra.Command {
	var f billFlags
	var given func() (fields, error)
	fieldFlags := slices.Concat(meterFlags(), ruleFlags())
	cmd := &cobra.Command{
		Use: "bill [HOME]", Short: "Calculate a bill for a year or a metered period",
		Long: `Calculate what a home pays on its rate plan or on another plan: energy by period and
tier with riders and taxes, fixed and minimum charges, and solar credits. Use it to
compare plans and to check tariffs. It does not replace the utility's bill.

The consumption is either a year's energy, spread over the hours as in the nearest of 13
cities, or a file. The file is a CSV whose last column has the energy of each step in
kWh. A step has 15, 30 or 60 minutes. A file without --start is a typical year from the
1st of January. A Green Button file from the utility names its days by itself.`,
		Example: `  gridhook bill home-1 --org acme --annual-kwh 9000
  gridhook bill --plan pge-e-elec --zipcode 94103 --annual-kwh 9000 --solar-kw 6
  gridhook bill --catalog pge-ev2-a --load meter.csv
  gridhook bill --catalog pge-ev2-a --load greenbutton.xml --zipcode 94103
  gridhook bill --tariff urdb.json --load meter.csv --start 2026-01-01 --timezone America/Denver`,
		Args: takesUpTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := billRequest(given)
			if err != nil {
				return err
			}
			made, err := f.bill(cmd.Context(), g, args, request)
			if wrong, ok := errors.AsType[*pricing.InvalidError](err); ok {
				return usagef("%s %s", billFlagOf(cmd, fieldFlags, wrong.Fields[0].Field), withFlags(cmd, fieldFlags, wrong.Fields[0].Message))
			}
			if err != nil {
				return nameFlags(cmd, fieldFlags, err)
			}
			return g.showBill(made)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&g.org, "org", "", "`organization` of the home and of its plan (GRIDHOOK_ORG)")
	flags.StringVar(&f.plan, "plan", "", "`plan` on the server (default the home's)")
	flags.StringVar(&f.catalog, "catalog", "", "`plan` of the built-in catalog, without a server")
	flags.StringVar(&f.tariff, "tariff", "", "`file` with a tariff in the JSON format of the US Utility Rate Database, without a server")
	flags.StringVar(&f.zipcode, "zipcode", "", "`zipcode` of the home")
	flags.StringVar(&f.timezone, "timezone", "", "IANA time `zone` of a file with --start (default the zipcode's)")
	given = addFlags(cmd, fieldFlags)
	cmd.MarkFlagsMutuallyExclusive("plan", "catalog", "tariff")
	cmd.MarkFlagsMutuallyExclusive("load", "annual-kwh")
	cmd.MarkFlagsMutuallyExclusive("generated", "solar-kw")
	cmd.MarkFlagsMutuallyExclusive("non-net-metered", "metering")
	return g.talks(cmd)
}

// billFlagOf returns the flag of a field of the request, or of the bill's plan or place.
func billFlagOf(cmd *cobra.Command, flags []bodyFlag, field string) string {
	if field == "ratePlanId" {
		return "--plan, --catalog or --tariff"
	}
	flag, _ := flagOf(cmd, flags, field)
	return "--" + cmp.Or(flag.name, field)
}

// bill requests the bill of a home on the server. It calculates the bill of any other
// home locally. Both use the same function.
func (f *billFlags) bill(ctx context.Context, g *globals, args []string, request bill.Request) (*bill.Bill, error) {
	if len(args) == 1 {
		return f.ofHome(ctx, g, args[0], request)
	}
	text, err := f.rate(ctx, g)
	if err != nil {
		return nil, err
	}
	rate, err := bill.ReadRate(text)
	if err != nil {
		return nil, err
	}
	home, err := f.home()
	if err != nil {
		return nil, err
	}
	made, err := bill.ForHome(home, rate, request)
	if err != nil {
		return nil, err
	}
	return made.Rounded(), nil
}

// ofHome returns the bill of a home on the server.
func (f *billFlags) ofHome(ctx context.Context, g *globals, id string, r bill.Request) (*bill.Bill, error) {
	if g.org == "" && !g.isPartner() {
		return nil, usagef("--org must be given with a home")
	}
	if f.zipcode != "" || f.timezone != "" {
		return nil, usagef("--zipcode and --timezone conflict with a home: the home has its own")
	}
	request := client.BillRequest{Request: r, RatePlanID: f.plan}
	if f.catalog != "" || f.tariff != "" {
		text, err := f.rate(ctx, g)
		if err != nil {
			return nil, err
		}
		request.Tariff = text
	}
	c, err := g.connect()
	if err != nil {
		return nil, err
	}
	made, err := c.Bill(ctx, id, request)
	return &made, err
}

// rate returns the tariff that the flags name.
func (f *billFlags) rate(ctx context.Context, g *globals) (json.RawMessage, error) {
	switch {
	case f.catalog != "":
		chosen, err := inCatalog(f.catalog)
		return chosen.URDB, err
	case f.tariff != "":
		return readText(f.tariff, g.in)
	case f.plan != "":
		return f.stored(ctx, g, f.plan)
	}
	return nil, usagef("name a home, or a plan with --plan, --catalog or --tariff")
}

// stored reads a plan from the server: the organization's own, or the shared plan.
func (f *billFlags) stored(ctx context.Context, g *globals, id string) ([]byte, error) {
	if err := g.ofOperator("rate plans"); err != nil {
		return nil, err
	}
	c, err := g.connect()
	if err != nil {
		return nil, err
	}
	plan, err := c.GetPlan(ctx, g.org, id)
	if refused, ok := errors.AsType[*client.Error](err); ok && g.org != "" && refused.Status == http.StatusNotFound {
		plan, err = c.GetPlan(ctx, "", id)
	}
	if err != nil {
		return nil, err
	}
	if plan.Parts != nil {
		return nil, usagef("plan %s is composed of parts: name a home for its bill", id)
	}
	return plan.Tariff, nil
}

func (g *globals) showBill(b *bill.Bill) error {
	return g.show(b, func(w io.Writer) {
		heads, demand := []any{"MONTH", "USED kWh", "SOLAR kWh", "DRAWN kWh", "SENT kWh", "FIXED $", "ENERGY $", "CREDIT $"}, ""
		if b.Demand != 0 {
			heads, demand = append(heads, "kW", "DEMAND $"), " + demand "+money(b.Demand)
		}
		row(w, heads...)
		for _, m := range b.Months {
			cells := []any{m.Start, kwh(m.UsedKWh), kwh(m.SolarKWh), kwh(m.DrawnKWh), kwh(m.SentKWh), money(m.Fixed + m.Minimum), money(m.Energy), money(m.Credit)}
			if b.Demand != 0 {
				cells = append(cells, fmt.Sprintf("%.1f", m.DemandKW), money(m.Demand))
			}
			row(w, cells...)
		}
		say(w, "\nfixed %s + energy %s%s - credit %s = $ %s\n", money(b.Fixed), money(b.Energy), demand, money(b.Credit), money(b.Total))
		for _, p := range b.Parts {
			say(w, "%s %s: fixed %s + energy %s + demand %s - credit %s = $ %s\n",
				strings.ToLower(string(p.Role)), p.PlanID, money(p.Fixed), money(p.Energy), money(p.Demand), money(p.Credit), money(p.Total))
		}
		if b.Sun != "" {
			say(w, "Solar radiation: a typical year at %s.\n", plain(b.Sun))
		}
		if b.Credit != 0 {
			say(w, "ENERGY is the cost of all used kWh without solar, CREDIT is what the solar saves.\n")
		}
		if b.OpenCredit > 0 || b.OpenKWh > 0 {
			say(w, "Not included: credits since the last true-up, $ %s and %s kWh.\n", money(b.OpenCredit), kwh(b.OpenKWh))
		}
		for _, caveat := range b.Caveats {
			say(w, "Uncertain: %s.\n", plain(caveat))
		}
	})
}

func kwh(v float64) string   { return fmt.Sprintf("%.0f", v) }
func money(v float64) string { return fmt.Sprintf("%.2f", v) }
