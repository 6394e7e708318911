package storage

import "github.com/gridhook/gridhook/pricing"

// Usage is what is metered or assumed of a home's use of energy. It decides the
// tier of tariffs that have some, and how likely the home's solar exports.
type Usage struct {
	HomeID string `json:"homeId"`
	// MonthToDateKwh was metered from the start of the billing month to the start
	// of the day AsOf, by the home's own calendar.
	MonthToDateKwh *float64 `json:"monthToDateKwh,omitempty"`
	// AsOf is a day such as 2026-07-15, given with MonthToDateKwh.
	AsOf string `json:"asOf,omitempty"`
	// AssumedMonthlyKwh is the use of an average month, spread evenly over its days.
	AssumedMonthlyKwh *float64 `json:"assumedMonthlyKwh,omitempty"`
	// BillingDay is the day of the month on which tiers start anew, 1 to 28; by
	// default 1.
	BillingDay int `json:"billingDay,omitempty"`
	// BaselineDailyKwh is the home's baseline allowance a day, by default that of
	// its rate plan.
	BaselineDailyKwh *float64 `json:"baselineDailyKwh,omitempty"`
	Base
}

// UsageRef names the usage of a home.
func UsageRef(org, homeID string) Ref { return Ref{KindUsage, org, homeID} }

// Ref names the usage, by its home.
func (u *Usage) Ref() Ref { return UsageRef(u.OrganizationID, u.HomeID) }

// monthsAYear and daysAYear turn the use of a month into that of a year and a day.
const (
	monthsAYear = 12
	daysAYear   = 365
)

// AnnualKWh is the assumed use of a year, 0 when none is.
func (u *Usage) AnnualKWh() float64 { return known(u.AssumedMonthlyKwh, 0) * monthsAYear }

// Pricing is the usage as package pricing takes it.
func (u *Usage) Pricing() pricing.Usage {
	p := pricing.Usage{
		DailyKWh: u.AnnualKWh() / daysAYear, BillingDay: u.BillingDay, BaselineDailyKWh: known(u.BaselineDailyKwh, 0),
	}
	if u.MonthToDateKwh != nil {
		p.MonthToDateKWh = *u.MonthToDateKwh
		p.AsOf, _ = pricing.ParseDate(u.AsOf) // Validate has seen that it is one
	}
	return p
}

// Validate names every wrong field.
func (u *Usage) Validate() error {
	var p Problems
	checkID(&p, "homeId", u.HomeID)
	const most = 1e6
	checkWithin(&p, "monthToDateKwh", u.MonthToDateKwh, 0, most, "kWh")
	checkWithin(&p, "assumedMonthlyKwh", u.AssumedMonthlyKwh, 0, most, "kWh")
	checkWithin(&p, "baselineDailyKwh", u.BaselineDailyKwh, 0, most, "kWh")
	p.Check(u.MonthToDateKwh != nil || u.AssumedMonthlyKwh != nil || u.BaselineDailyKwh != nil,
		"monthToDateKwh", "is required where there is neither assumedMonthlyKwh nor baselineDailyKwh")
	_, err := pricing.ParseDate(u.AsOf)
	p.Check(u.MonthToDateKwh == nil || u.AsOf != "", "asOf", "is required with monthToDateKwh: the day before which it was metered")
	p.Check(u.AsOf == "" || u.MonthToDateKwh != nil, "monthToDateKwh", "is required with asOf")
	p.Check(u.AsOf == "" || err == nil, "asOf", "must be a day such as 2026-07-15")
	p.Check(u.BillingDay >= 0 && u.BillingDay <= 28, "billingDay", "must be from 1 to 28")
	return p.Err()
}
