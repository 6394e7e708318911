package bill

import (
	"cmp"
	"errors"
	"fmt"
	"time"

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
	// None pays each month's credit in the month. It is the default under NetBilling and
	// FeedIn.
	None Rollover = "NONE"
	// Dollars carries the value of the surplus of sent over drawn energy. It is the
	// default under NetMetering.
	Dollars Rollover = "DOLLARS"
	// Energy carries the kWh under NetMetering, period by period. If the next month lacks
	// a period, its kWh move to the period at the same time of the day. SAM uses this
	// rule (module utilityrate5, metering option 0).
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
	Tiers TierRule

	// HourlyPrices replace the tariff's energy prices, one price per step of the meter,
	// $/kWh. The tariff's fixed and minimum charges still apply. Tariff may be nil.
	HourlyPrices []float64
	// Fixed replaces the tariff's charge if Tariff is nil. Minimum replaces the tariff's
	// charge if it has a unit.
	Fixed, Minimum pricing.Charge

	// Regime is the home's solar regime. Net metering under it may credit the whole price.
	Regime pricing.Regime
	// Metering defaults to NetMetering. The default of Rollover depends on Metering.
	Metering Metering
	Rollover Rollover
	// TrueUp selects the settlement month: credits are settled at its end. 0 selects the
	// last month of the meter. Credits of later months stay open in the bill.
	TrueUp time.Month
	// CreditMonths is the number of months after which credits in dollars expire. 0 means
	// that credits never expire before the settlement.
	CreditMonths int
	// ExportPrices are paid under NetBilling and FeedIn, one price per step of the meter,
	// $/kWh. If nil, the tariff's sell rates by period and tier apply.
	ExportPrices []float64
	// FeedInRate, if not 0, is paid for every kWh generated under FeedIn, $/kWh.
	FeedInRate float64
	// SettleRetail pays all credits in dollars that remain at the settlement. Otherwise
	// those credits expire. SettleRate, $/kWh, then pays the surplus of generated over
	// used kWh since the last settlement (net surplus compensation).
	SettleRetail bool
	SettleRate   float64
	// GridFee and GridFeePerKW are due each month from a home with solar, $. GridFee is
	// per home, GridFeePerKW per kW of SolarKW.
	GridFee, GridFeePerKW float64
	SolarKW               float64
}

// ErrTerms is wrapped by every error about Terms.
var ErrTerms = errors.New("bill: unusable terms")

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
	switch {
	case t.Tariff == nil && t.HourlyPrices == nil:
		return fmt.Errorf("%w: neither a tariff nor prices by the hour", ErrTerms)
	case t.HourlyPrices != nil && len(t.HourlyPrices) != steps:
		return fmt.Errorf("%w: %d prices for %d steps", ErrTerms, len(t.HourlyPrices), steps)
	case t.ExportPrices != nil && len(t.ExportPrices) != steps:
		return fmt.Errorf("%w: %d export prices for %d steps", ErrTerms, len(t.ExportPrices), steps)
	case t.Metering != NetMetering && t.Metering != NetBilling && t.Metering != FeedIn:
		return fmt.Errorf("%w: metering %q is not known", ErrTerms, t.Metering)
	case t.Rollover != t.usualRollover() && (t.Rollover != Dollars || t.Metering != NetBilling) &&
		(t.Rollover != Energy || t.Metering != NetMetering || t.HourlyPrices != nil):
		return fmt.Errorf("%w: %w", ErrTerms, wrong("carryOver", "%s is not available with %s, or not with hourly prices", t.Rollover, t.Metering))
	case t.TrueUp < 0 || t.TrueUp > time.December:
		return fmt.Errorf("%w: true-up in month %d", ErrTerms, t.TrueUp)
	case t.CreditMonths < 0 || t.CreditMonths > 0 && t.Rollover != Dollars:
		return fmt.Errorf("%w: %w", ErrTerms, wrong("creditMonths", "is %d, but only credits in dollars expire, after 1 month or more", t.CreditMonths))
	case t.Tiers != RunningTotal && t.Tiers != Prorated:
		return fmt.Errorf("%w: tier rule %q is not known", ErrTerms, t.Tiers)
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
	if t.Minimum.Unit != "" {
		day.Info.MinimumCharge = t.Minimum
	}
	return day, err
}

func (t *Terms) tariffOn(d pricing.Date) (pricing.Day, error) {
	if t.Tariff == nil {
		return pricing.Day{Info: pricing.TariffInfo{FixedCharge: t.Fixed, MinimumCharge: t.Minimum}}, nil
	}
	if t.AnyDate {
		return t.Tariff.AnyDay(d), nil
	}
	day, ok := t.Tariff.On(d)
	if !ok {
		return day, fmt.Errorf("%w: the tariff %q is not in force on %v", ErrTerms, t.Tariff.Info().Name, d)
	}
	return day, nil
}
