package bill

import (
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/pricing"
)

// Metering is how the energy of a home's solar is settled.
type Metering string

// The ways of settling.
const (
	NetMetering Metering = ""            // sent out and drawn cancel within a month, credits roll over
	NetBilling  Metering = "NET_BILLING" // drawn is charged, sent out is paid for, step by step
	FeedIn      Metering = "FEED_IN"     // everything used is charged, everything generated is paid for
)

// TierRule is how usage is counted against the bounds of tiers where a tariff
// has several periods.
type TierRule int

// The rules. They agree where there is one period, or one tier.
const (
	// RunningTotal charges each kWh by the tier that the month's total has
	// reached when it is drawn. It is the rule of the price signal.
	RunningTotal TierRule = iota
	// Prorated fills tiers in the order of the hours by the bounds of the period
	// of each, and charges every period its share of the month in each tier, as
	// BEopt, OpenStudio-HPXML and SAM do. A tier beyond the last of a period costs
	// nothing in it.
	Prorated
)

// Rollover is what net metering carries from a month to the next.
type Rollover int

// The ways of carrying over.
const (
	// Dollars carries the value of what was sent out beyond what was drawn.
	Dollars Rollover = iota
	// Energy carries the kWh, period by period; a period that the next month does
	// not have hands them to the one that is at its time of the day, as in SAM
	// (module utilityrate5, metering option 0).
	Energy
)

// Terms are what a bill is calculated by.
type Terms struct {
	Tariff *pricing.Tariff
	// AnyDate charges by the newest version of the tariff whatever the date, for
	// a typical year.
	AnyDate bool
	// Usage gives the billing day and the baseline allowance.
	Usage pricing.Usage
	Tiers TierRule

	// HourlyPrices, one a step of the meter in $/kWh, replace the tariff's energy
	// prices. Its fixed and minimum charges stay. Tariff may then be nil.
	HourlyPrices []float64
	// Fixed and Minimum replace the tariff's charges where Tariff is nil.
	Fixed, Minimum pricing.Charge

	Metering Metering
	Rollover Rollover // under NetMetering
	// ExportPrices, one a step of the meter in $/kWh, are paid under NetBilling and
	// FeedIn; none means the tariff's sell rates.
	ExportPrices []float64
	// FeedInRate, where not 0, is paid for every kWh generated under FeedIn, $/kWh.
	FeedInRate float64
	// SettleRetail pays the dollars that are left of a year's net metering in full.
	// Otherwise it is lost, and the kWh sent out beyond those drawn in the year
	// are paid SettleRate, $/kWh.
	SettleRetail bool
	SettleRate   float64
	// GridFee is due each month from a home with solar, $: per home, and per kW of
	// SolarKW.
	GridFee, GridFeePerKW float64
	SolarKW               float64
}

// ErrTerms is wrapped by every error about Terms.
var ErrTerms = errors.New("bill: unusable terms")

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
	case t.Rollover != Dollars && (t.Rollover != Energy || t.HourlyPrices != nil):
		return fmt.Errorf("%w: rollover %d is not known, or not with prices by the hour", ErrTerms, t.Rollover)
	case t.Tiers < RunningTotal || t.Tiers > Prorated:
		return fmt.Errorf("%w: tier rule %d is not known", ErrTerms, t.Tiers)
	}
	return nil
}

// on gives what the tariff says of a day.
func (t *Terms) on(d pricing.Date) (pricing.Day, error) {
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
