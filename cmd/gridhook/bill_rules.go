package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/pricing/bill"
)

// ruleFlags select the rules of a bill. A rule applies where the plan has none or where
// another rule is wanted.
type ruleFlags struct {
	bill.Rules
	tierRule, metering, carryOver, surplus string
	minimum                                float64
	minimumGiven                           func() bool
}

func (f *ruleFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.NonNetMetered, "non-net-metered", false, "the solar is not net metered, whatever the plan says")
	flags.StringVar(&f.tierRule, "tier-rule", "running-total", "how tiers are counted over several periods: running-total, as in the price signal, or prorated, as in SAM and BEopt")
	flags.StringVar(&f.metering, "metering", "", "how solar is settled: net-metering, net-billing or feed-in; by default as the home's regime or the plan says")
	flags.StringVar(&f.carryOver, "carry-over", "", "what credits become in the next month: dollars, kwh, or none, which are paid at once; by default dollars under net metering, and none otherwise")
	flags.IntVar(&f.TrueUpMonth, "true-up-month", 0, "the `month`, 1 to 12, at whose end credits are settled; by default the last of the bill")
	flags.IntVar(&f.CreditMonths, "credit-expiry", 0, "the `months` after which credits in dollars are lost; by default they are lost at the settlement")
	flags.StringVar(&f.surplus, "surplus-rate", "0", "what the settlement pays for a kWh generated beyond those used: a `price` in $/kWh, or retail for all credits")
	flags.Float64Var(&f.FeedInRate, "feed-in-rate", 0, "what feed-in pays for a kWh generated, in $/kWh, instead of the plan's sell rates")
	flags.Float64Var(&f.minimum, "minimum-charge", 0, "the least that is due, in `$`, instead of the plan's")
	flags.StringVar(&f.MinimumUnit, "minimum-charge-unit", "month", "the time that --minimum-charge is for: day, month or year")
	flags.Float64Var(&f.GridFee, "grid-fee", 0, "what a home with solar pays a month, in `$`")
	flags.Float64Var(&f.GridFeePerKW, "grid-fee-per-kw", 0, "what a home with solar pays a month for each kW of --solar-kw, in `$`")
	cmd.MarkFlagsMutuallyExclusive("non-net-metered", "metering")
	f.minimumGiven = func() bool { return flags.Changed("minimum-charge") }
}

// rules returns the rules that the flags select.
func (f *ruleFlags) rules() (bill.Rules, error) {
	r := f.Rules
	r.Tiers, r.Metering, r.Rollover = bill.TierRule(constant(f.tierRule)), bill.Metering(constant(f.metering)), bill.Rollover(constant(f.carryOver))
	if r.SurplusRetail = f.surplus == "retail"; !r.SurplusRetail {
		var err error
		if r.SurplusRate, err = strconv.ParseFloat(f.surplus, 64); err != nil {
			return r, usagef("--surplus-rate must be a price in $/kWh or retail, not %q", f.surplus)
		}
	}
	if f.minimumGiven() {
		r.Minimum = &f.minimum
	}
	return r, nil
}

// constant converts a flag's spelling to a value of the API.
func constant(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }
