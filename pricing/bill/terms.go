package bill

import (
	"cmp"

	"github.com/gridhook/gridhook/pricing"
)

// Metering is a way to settle the energy of a home's solar.
type Metering string

// The values of Metering.
const (
	NetMetering Metering = "NET_METERING" // sent and drawn energy cancel within a month, credits roll over
	NetBilling  Metering = "NET_BILLING"  // drawn energy is charged and sent energy is paid, step by step
	FeedIn      Metering = "FEED_IN"      // all used energy is charged, all generated energy is paid
)

// TierRule counts usage against the bounds of tiers in a tariff with several periods.
type TierRule string

// The values of TierRule. They agree if the tariff has one period or one tier.
const (
	// RunningTotal charges each kWh at the tier that the month's total has reached. It is
	// the default, and the rule of the price signal.
	RunningTotal TierRule = "RUNNING_TOTAL"
	// Prorated fills tiers hour by hour, with the bounds of each hour's period. Then it
	// charges every period its share of the month in each tier. BEopt, OpenStudio-HPXML
	// and SAM use this rule. A tier beyond a period's last tier costs nothing in that
	// period.
	Prorated TierRule = "PRORATED"
)

// Rollover is the form in which credits move to the next month.
type Rollover string

// The values of Rollover.
const (
	// None: each month's credit is paid in the same month. This is the default under
	// NetBilling and FeedIn.
	None Rollover = "NONE"
	// Dollars carries the value of the surplus of sent over drawn energy. It is the
	// default under NetMetering.
	Dollars Rollover = "DOLLARS"
	// Energy carries the kWh under NetMetering, period by period. Where the periods change,
	// the kWh move to the period at the same time of the day. SAM uses this rule (module
	// utilityrate5, metering option 0).
	Energy Rollover = "KWH"
)

// Terms hold the tariff, the prices and the rules of a bill.
type Terms struct {
	Tariff *pricing.Tariff
	// Parts are the parts of a composed plan. Tariff is then the tariff of the lead part.
	// Only ForHome reads them.
	Parts []pricing.PricedPart
	// adjust multiplies a day's energy prices, taxes included: the adjustments of a composed
	// plan. nil multiplies by 1.
	adjust func(pricing.Date) float64
	// eventPrices are the changes of the import price by the plan's events, one per step of
	// the meter, $/kWh; nil if there are none.
	eventPrices []float64
	// AnyDate selects the newest version of the tariff for every date, for a typical
	// year.
	AnyDate bool
	// Usage holds the billing day and the baseline allowance.
	Usage pricing.Usage

	// HourlyPrices replace the tariff's energy prices, one price per step of the meter,
	// $/kWh. The tariff's fixed and minimum charges still apply.
	HourlyPrices []float64
	// MinimumCharge replaces the tariff's minimums if it has a unit.
	MinimumCharge pricing.Charge

	// Rules are the rules of the settlement. Calculate ignores Minimum, MinimumUnit and
	// NonNetMetered: ForHome turns them into MinimumCharge and Metering.
	Rules
	// Regime is the home's solar regime. Net metering under it may credit the whole price.
	Regime pricing.Regime
	// ExportPrices are paid under NetBilling and FeedIn, one price per step of the meter,
	// $/kWh. If nil, the tariff's sell rates by period and tier apply.
	ExportPrices []float64
	SolarKW      float64 // for GridFeePerKW
}

// defaults sets the default of each empty field.
func (t *Terms) defaults() {
	t.Metering = cmp.Or(t.Metering, NetMetering)
	t.Rollover = cmp.Or(t.Rollover, t.usualRollover())
	t.Tiers = cmp.Or(t.Tiers, RunningTotal)
}

func (t *Terms) usualRollover() Rollover {
	if t.Metering == NetMetering {
		return Dollars
	}
	return None
}

func (t *Terms) check(steps int) error {
	if err := t.Rules.check(); err != nil {
		return err
	}
	switch {
	case t.Tariff == nil:
		return pricing.Invalid("ratePlanId", "is required")
	case t.HourlyPrices != nil && len(t.HourlyPrices) != steps:
		return pricing.Invalid("ratePlanId", "has %d hourly prices, but loadKwh has %d steps", len(t.HourlyPrices), steps)
	case t.ExportPrices != nil && len(t.ExportPrices) != steps:
		return pricing.Invalid("ratePlanId", "has %d prices of exports, but loadKwh has %d steps", len(t.ExportPrices), steps)
	case t.Rollover != t.usualRollover() && (t.Rollover != Dollars || t.Metering != NetBilling) &&
		(t.Rollover != Energy || t.Metering != NetMetering || t.HourlyPrices != nil):
		return pricing.Invalid("carryOver", "%s is not available with %s, or not with hourly prices", t.Rollover, t.Metering)
	case t.CreditMonths > 0 && t.Rollover != Dollars:
		return pricing.Invalid("creditMonths", "is %d, but only credits in dollars expire, after 1 month or more", t.CreditMonths)
	}
	return nil
}

// scale returns the factor of a day's energy prices.
func (t *Terms) scale(d pricing.Date) float64 {
	if t.adjust == nil {
		return 1
	}
	return t.adjust(d)
}

// on returns the prices and charges of a day.
func (t *Terms) on(d pricing.Date) (pricing.Day, error) {
	day, err := t.tariffOn(d)
	if t.adjust != nil {
		day.Tax = (1+day.Tax)*t.adjust(d) - 1
	}
	if t.MinimumCharge.Unit != "" {
		day.Info.MinimumCharge, day.Info.AnnualMinimum = t.MinimumCharge, pricing.Charge{}
	}
	return day, err
}

func (t *Terms) tariffOn(d pricing.Date) (pricing.Day, error) {
	if t.AnyDate {
		return t.Tariff.AnyDay(d), nil
	}
	day, ok := t.Tariff.On(d)
	if !ok {
		return day, pricing.Invalid("ratePlanId", "names the tariff %q, which is not in force on %v", t.Tariff.Info().Name, d)
	}
	return day, nil
}
