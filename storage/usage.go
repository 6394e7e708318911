package storage

import "github.com/gridhook/gridhook/pricing"

// Usage is the metered or assumed use of energy of a home. It decides the tier of tiered
// tariffs, and the probability that the home's solar exports.
type Usage struct {
	HomeID            string   `json:"homeId" pattern:"id"`
	MonthToDateKwh    *float64 `json:"monthToDateKwh,omitempty" minimum:"0" maximum:"1000000" doc:"The metered energy from the start of the billing month to the start of the day asOf."`
	AsOf              string   `json:"asOf,omitempty" format:"date" doc:"The day after the metered period, by the home's calendar. Send it together with monthToDateKwh."`
	AssumedMonthlyKwh *float64 `json:"assumedMonthlyKwh,omitempty" minimum:"0" maximum:"1000000" doc:"The energy of an average month."`
	BillingDay        int      `json:"billingDay,omitempty" minimum:"0" maximum:"28" doc:"The day of the month on which tiers restart, 1 to 28. 0 means 1."`
	BaselineDailyKwh  *float64 `json:"baselineDailyKwh,omitempty" minimum:"0" maximum:"1000000" doc:"The home's daily baseline allowance, by default the allowance of its rate plan."`
	Base
}

// Ref names the usage by its home.
func (u *Usage) Ref() Ref { return KindUsage.Ref(u.OrganizationID, u.HomeID) }

// monthsAYear and daysAYear convert a monthly use to a yearly and a daily use.
const (
	monthsAYear = 12
	daysAYear   = 365
)

// AnnualKWh returns the assumed use of a year, 0 if no use is assumed.
func (u *Usage) AnnualKWh() float64 { return known(u.AssumedMonthlyKwh, 0) * monthsAYear }

// Pricing returns the usage in the form of package pricing.
func (u *Usage) Pricing() pricing.Usage {
	p := pricing.Usage{
		DailyKWh: u.AnnualKWh() / daysAYear, BillingDay: u.BillingDay, BaselineDailyKWh: known(u.BaselineDailyKwh, 0),
	}
	if u.MonthToDateKwh != nil {
		p.MonthToDateKWh = *u.MonthToDateKwh
		p.AsOf, _ = pricing.ParseDate(u.AsOf) // the tag format has checked the date
	}
	return p
}

// Check adds every wrong field.
func (u *Usage) Check(p *Problems) {
	p.Check(u.MonthToDateKwh != nil || u.AssumedMonthlyKwh != nil || u.BaselineDailyKwh != nil,
		"monthToDateKwh", "is required without assumedMonthlyKwh and baselineDailyKwh")
	p.Check(u.MonthToDateKwh == nil || u.AsOf != "", "asOf", "is required with monthToDateKwh")
	p.Check(u.AsOf == "" || u.MonthToDateKwh != nil, "monthToDateKwh", "is required with asOf")
}
