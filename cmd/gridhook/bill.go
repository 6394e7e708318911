package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// billFlags select the plan and the usage of a bill.
type billFlags struct {
	plan, catalog, tariff string
	meterFlags
	ruleFlags
}

func newBillCommand(g *globals) *cobra.Command {
	var f billFlags
	cmd := &cobra.Command{
		Use: "bill [HOME]", Short: "Work out the bill of a year, or of a metered time, by a rate plan", GroupID: groupOperate,
		Long: `Work out what a home pays by its rate plan, or by another: energy by period and
tier with riders and taxes, fixed and minimum charges, and what solar takes off. It
is for comparing plans and checking tariffs, and no bill to be paid.

What was used comes from a file with a number (kWh) a line, or a column of them, in
steps of 15, 30 or 60 minutes; or it is a year's energy, spread as in the nearest of
13 cities. A file of one year is a typical year from the 1st of January on, unless
--start says when it was metered.`,
		Example: `  gridhook bill home-1 --org acme --annual-kwh 9000
  gridhook bill --plan pge-e-elec --zipcode 94103 --annual-kwh 9000 --solar-kw 6
  gridhook bill --catalog pge-ev2-a --load meter.csv
  gridhook bill --tariff urdb.json --load meter.csv --start 2026-01-01 --timezone America/Denver`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("there is an argument too many: %q", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			made, err := f.bill(cmd.Context(), g, args)
			var input *bill.InputError
			if errors.As(err, &input) {
				return usagef("%s %s", flagOf(input.Field), input.Message)
			}
			if err != nil {
				return err
			}
			return g.showBill(made)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&g.org, "org", "", "the `organization` of the home, and of its plan (GRIDHOOK_ORG)")
	flags.StringVar(&f.plan, "plan", "", "bill by this `plan` of the server's")
	flags.StringVar(&f.catalog, "catalog", "", "bill by this `plan` of the catalogue, without a server")
	flags.StringVar(&f.tariff, "tariff", "", "bill by the tariff in this `file`, in the JSON of the US Utility Rate Database, without a server")
	f.meterFlags.add(cmd)
	f.ruleFlags.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("plan", "catalog", "tariff")
	cmd.MarkFlagsMutuallyExclusive("load", "annual-kwh")
	cmd.MarkFlagsMutuallyExclusive("generated", "solar-kw")
	return g.talks(cmd)
}

// flagOf returns the flag of a field of the request: --annual-kwh of annualKwh.
func flagOf(field string) string {
	switch field {
	case "loadKwh":
		return "--load"
	case "generatedKwh":
		return "--generated"
	case "stepMinutes":
		return "--step"
	case "solarSystemSizeKw":
		return "--solar-kw"
	case "creditMonths":
		return "--credit-expiry"
	case "ratePlanId":
		return "--plan, --catalog or --tariff"
	}
	return "--" + capital.ReplaceAllStringFunc(field, func(s string) string { return "-" + strings.ToLower(s) })
}

var capital = regexp.MustCompile("[A-Z]")

// bill asks the server for the bill of a home that the server has. It calculates the bill
// of any other home locally. Both use the same function.
func (f *billFlags) bill(ctx context.Context, g *globals, args []string) (*bill.Bill, error) {
	request, err := f.request(g)
	if err != nil {
		return nil, err
	}
	if request.Rules, err = f.rules(); err != nil {
		return nil, err
	}
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
	return bill.ForHome(home, rate, request)
}

// ofHome returns the bill of a home that the server has.
func (f *billFlags) ofHome(ctx context.Context, g *globals, id string, r bill.Request) (*bill.Bill, error) {
	if g.org == "" {
		return nil, usagef("--org must be given with a home")
	}
	if f.given("zipcode") || f.given("timezone") {
		return nil, usagef("--zipcode and --timezone do not go with a home: it has its own")
	}
	asked := client.BillRequest{Request: r, RatePlanID: f.plan}
	if f.catalog != "" || f.tariff != "" {
		text, err := f.rate(ctx, g)
		if err != nil {
			return nil, err
		}
		asked.Tariff = text
	}
	c, err := g.connect()
	if err != nil {
		return nil, err
	}
	made, err := c.Bill(ctx, id, asked)
	return &made, err
}

// rate returns the tariff that the flags name.
func (f *billFlags) rate(ctx context.Context, g *globals) ([]byte, error) {
	switch {
	case f.catalog != "":
		if err := inCatalog(f.catalog); err != nil {
			return nil, err
		}
		chosen, _ := catalog.ByID(f.catalog)
		return chosen.URDB(), nil
	case f.tariff != "":
		return g.readFile(f.tariff)
	case f.plan != "":
		return f.stored(ctx, g, f.plan)
	}
	return nil, usagef("name a home, or say with --plan, --catalog or --tariff what to bill by")
}

// stored reads a plan from the server: the organization's own, or the shared plan.
func (f *billFlags) stored(ctx context.Context, g *globals, id string) ([]byte, error) {
	c, err := g.connect()
	if err != nil {
		return nil, err
	}
	plan, err := c.GetPlan(ctx, g.org, id)
	var refused *client.Error
	if g.org != "" && errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		plan, err = c.GetPlan(ctx, "", id)
	}
	if err != nil {
		return nil, err
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
		if b.Sun != "" {
			say(w, "The sun is that of a typical year at %s.\n", plain(b.Sun))
		}
		if b.OpenCredit > 0 || b.OpenKWh > 0 {
			say(w, "Credits since the last true-up, not part of this: $ %s and %s kWh.\n", money(b.OpenCredit), kwh(b.OpenKWh))
		}
		for _, caveat := range b.Caveats {
			say(w, "Uncertain: %s.\n", plain(caveat))
		}
	})
}

func kwh(v float64) string   { return fmt.Sprintf("%.0f", v) }
func money(v float64) string { return fmt.Sprintf("%.2f", v) }
