package pricing

import (
	"slices"
	"time"
)

// Demand is a tariff's charges for power. They depend on the highest demand of a billing
// month, over all hours or some of them. The effect of one more kWh on them cannot be
// known beforehand. Demand charges are therefore part of a bill, but not of a price
// signal.
type Demand struct {
	// Flat charges the highest demand of the month. FlatMonths selects the month's
	// charge.
	Flat       []DemandCharge
	FlatMonths [12]int
	// TimeOfUse charges the highest demand of each period. Schedules name the periods.
	TimeOfUse []DemandCharge
	Schedules
	// WindowMinutes is the averaging time of demand; 0 is the meter's step.
	WindowMinutes int
	Ratchet       Ratchet
	// Problem names the charges that could not be read; empty if all were read.
	Problem string
}

// Ratchet sets a minimum for a month's flat demand: a share of the highest demand of
// earlier months.
type Ratchet struct {
	Share  float64  // of the highest demand; 0 is no ratchet
	Months int      // number of earlier months that count; 0 is eleven
	Counts [12]bool // calendar months whose demand counts; all false means all months
}

// DemandCharge is the price of one period's highest demand.
type DemandCharge struct {
	Tiers []DemandTier
	Unit  DemandUnit
}

// DemandTier is one step of a demand charge.
type DemandTier struct {
	MaxKW *float64 // upper bound of the demand in the charge's unit; nil when unbounded
	Rate  float64  // rate and adjustment together, $ a unit
}

// DemandUnit is the unit of a demand charge.
type DemandUnit struct {
	KW    float64 // kW in one unit; 0 means 1 kW, or 1 kVA at a power factor of 1
	Daily bool    // the charge applies to each day's highest demand, not the month's
}

// Charges reports whether the tariff has demand charges.
func (d *Demand) Charges() bool { return len(d.Flat)+len(d.TimeOfUse) > 0 }

// HasPeriod reports whether a month has hours of a period of TimeOfUse.
func (d *Demand) HasPeriod(month time.Month, period int) bool {
	in := func(s *Schedule) bool { return slices.Contains(s[month-1][:], uint16(period)) } //nolint:gosec // an index of TimeOfUse
	return in(&d.Weekday) || in(&d.Weekend)
}

// Cost returns the price of a highest demand in kW, $.
func (c *DemandCharge) Cost(kw float64) float64 {
	if c.Unit.KW != 0 {
		kw /= c.Unit.KW
	}
	total, from := 0.0, 0.0
	for i, t := range c.Tiers {
		if t.MaxKW == nil || kw <= *t.MaxKW || i == len(c.Tiers)-1 { // the last tier has no end, as for energy
			return total + max(kw-from, 0)*t.Rate
		}
		total += max(*t.MaxKW-from, 0) * t.Rate
		from = max(*t.MaxKW, from)
	}
	return total
}
