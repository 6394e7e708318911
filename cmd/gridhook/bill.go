package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// billFlags say what is billed, and by what.
type billFlags struct {
	plan, catalog, tariff string
	meterFlags
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
			terms, err := f.terms(cmd.Context(), g, args)
			if err != nil {
				return err
			}
			meter, err := f.meter(g)
			if err != nil {
				return err
			}
			if err := f.settle(&terms, &meter); err != nil {
				return err
			}
			made, err := bill.Calculate(meter, terms)
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
	f.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("plan", "catalog", "tariff")
	cmd.MarkFlagsMutuallyExclusive("load", "annual-kwh")
	cmd.MarkFlagsOneRequired("load", "annual-kwh")
	return g.talks(cmd)
}

// terms are those of the plan that is meant. What a home says of its place counts
// where no flag does.
func (f *billFlags) terms(ctx context.Context, g *globals, args []string) (bill.Terms, error) {
	plan := f.plan
	if len(args) == 1 {
		home, err := f.home(ctx, g, args[0])
		if err != nil {
			return bill.Terms{}, err
		}
		f.zipcode, f.timezone = cmp.Or(f.zipcode, home.Zipcode), cmp.Or(f.timezone, home.Timezone)
		if plan == "" && f.catalog == "" && f.tariff == "" {
			if plan = home.RatePlanID; plan == "" {
				return bill.Terms{}, fmt.Errorf("the home %s has no rate plan: say with --plan, --catalog or --tariff which to bill by", home.ID)
			}
		}
	}
	switch {
	case f.catalog != "":
		chosen, ok := catalog.ByID(f.catalog)
		if !ok {
			return bill.Terms{}, usagef("--catalog: there is no plan %q in the catalogue; see %q", f.catalog, "gridhook plan catalog")
		}
		return bill.ReadRate(chosen.URDB())
	case f.tariff != "":
		text, err := g.readFile(f.tariff)
		if err != nil {
			return bill.Terms{}, err
		}
		return bill.ReadRate(text)
	case plan != "":
		return f.stored(ctx, g, plan)
	}
	return bill.Terms{}, usagef("name a home, or say with --plan, --catalog or --tariff what to bill by")
}

func (f *billFlags) home(ctx context.Context, g *globals, id string) (client.Home, error) {
	if g.org == "" {
		return client.Home{}, usagef("--org must be given with a home")
	}
	c, err := g.connect()
	if err != nil {
		return client.Home{}, err
	}
	return c.GetHome(ctx, g.org, id)
}

// stored reads a plan of the server's: the organization's own, or the shared one.
func (f *billFlags) stored(ctx context.Context, g *globals, id string) (bill.Terms, error) {
	c, err := g.connect()
	if err != nil {
		return bill.Terms{}, err
	}
	plan, err := c.GetPlan(ctx, g.org, id)
	var refused *client.Error
	if g.org != "" && errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		plan, err = c.GetPlan(ctx, "", id)
	}
	if err != nil {
		return bill.Terms{}, err
	}
	return bill.ReadRate(plan.Tariff)
}

// billMonth is a month of a bill as it is shown. Money is in dollars.
type billMonth struct {
	Start    pricing.Date `json:"start"`
	Days     int          `json:"days"`
	UsedKWh  float64      `json:"usedKwh"`
	SolarKWh float64      `json:"solarKwh"`
	DrawnKWh float64      `json:"drawnKwh"`
	SentKWh  float64      `json:"sentKwh"`
	Fixed    float64      `json:"fixed"`
	Minimum  float64      `json:"minimum"`
	Energy   float64      `json:"energy"`
	Credit   float64      `json:"credit"`
}

// shownBill is a bill as it is shown.
type shownBill struct {
	Months           []billMonth `json:"months"`
	Fixed            float64     `json:"fixed"`
	Energy           float64     `json:"energy"`
	Credit           float64     `json:"credit"`
	Total            float64     `json:"total"`
	HasDemandCharges bool        `json:"hasDemandCharges"`
}

func (g *globals) showBill(b *bill.Bill) error {
	shown := shownBill{Fixed: b.Fixed, Energy: b.Energy, Credit: b.Credit, Total: b.Total, HasDemandCharges: b.HasDemandCharges, Months: []billMonth{}}
	for _, m := range b.Months {
		shown.Months = append(shown.Months, billMonth(m))
	}
	return g.show(shown, func(w io.Writer) {
		row(w, "MONTH", "USED kWh", "SOLAR kWh", "DRAWN kWh", "SENT kWh", "FIXED $", "ENERGY $", "CREDIT $")
		for _, m := range shown.Months {
			row(w, m.Start, kwh(m.UsedKWh), kwh(m.SolarKWh), kwh(m.DrawnKWh), kwh(m.SentKWh), money(m.Fixed+m.Minimum), money(m.Energy), money(m.Credit))
		}
		say(w, "\nfixed %s + energy %s - credit %s = $ %s\n", money(b.Fixed), money(b.Energy), money(b.Credit), money(b.Total))
		if b.HasDemandCharges {
			say(w, "The plan also charges for power, which is not part of this.\n")
		}
	})
}

func kwh(v float64) string   { return fmt.Sprintf("%.0f", v) }
func money(v float64) string { return fmt.Sprintf("%.2f", v) }
