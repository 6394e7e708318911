package regime

import (
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// rule is a regime for applications within a span of time.
type rule struct {
	state     string
	utilities []int // EIA numbers
	from, to  string
	regime    pricing.Regime
}

const (
	metered = pricing.NetMetering
	billed  = pricing.NetBilling

	twenty = "20 years from connection"
)

// rules are in no particular order, as at most one applies to an application.
var rules = []rule{
	{"CA", []int{14328}, "", "2016-12-14", pricing.Regime{Name: "NEM 1.0", Metering: metered, CreditsAll: true, Source: "CPUC Decision 14-03-041", Until: twenty}},
	{"CA", []int{16609}, "", "2016-06-28", pricing.Regime{Name: "NEM 1.0", Metering: metered, CreditsAll: true, Source: "CPUC Decision 14-03-041", Until: twenty}},
	{"CA", []int{17609}, "", "2017-06-30", pricing.Regime{Name: "NEM 1.0", Metering: metered, CreditsAll: true, Source: "CPUC Decision 14-03-041", Until: twenty}},
	{"CA", []int{14328}, "2016-12-15", "2023-04-14", pricing.Regime{Name: "NEM 2.0", Metering: metered, Source: "CPUC Decision 16-01-044", Until: twenty}},
	{"CA", []int{16609}, "2016-06-29", "2023-04-14", pricing.Regime{Name: "NEM 2.0", Metering: metered, Source: "CPUC Decision 16-01-044", Until: twenty}},
	{"CA", []int{17609}, "2017-07-01", "2023-04-14", pricing.Regime{Name: "NEM 2.0", Metering: metered, Source: "CPUC Decision 16-01-044", Until: twenty}},
	{"CA", []int{14328, 16609, 17609}, "2023-04-15", "", pricing.Regime{Name: "Net Billing Tariff", Metering: billed, Source: "CPUC Decision 22-12-056"}},
	{"AZ", []int{803}, "", "2017-08-31", pricing.Regime{Name: "Net metering", Metering: metered, Source: "Arizona Corporation Commission Decision 76295", Until: twenty}},
	{"AZ", []int{803}, "2017-09-01", "", pricing.Regime{Name: "Resource Comparison Proxy", Metering: billed, Source: "Arizona Corporation Commission Decisions 75859 and 76295"}},
	{"HI", []int{19547, 11843, 8287}, "", "2015-10-12", pricing.Regime{Name: "Net energy metering", Metering: metered, Source: "Hawaii PUC Order 33258"}},
	{"UT", []int{14354}, "", "2017-11-15", pricing.Regime{Name: "Net metering, Schedule 135", Metering: metered, Source: "Utah PSC Docket 14-035-114", Until: "the end of 2035"}},
	{"UT", []int{14354}, "2020-10-31", "", pricing.Regime{Name: "Net billing, Schedule 137", Metering: billed, Source: "Utah PSC Docket 17-035-61"}},
	{"IN", []int{15470, 9324, 9273, 13756}, "", "2017-12-31", pricing.Regime{Name: "Net metering", Metering: metered, Source: "Indiana Code 8-1-40", Until: "2047-07-01"}},
	{"IN", []int{15470, 9324, 9273, 13756}, "2022-07-01", "", pricing.Regime{Name: "Excess distributed generation", Metering: billed, Source: "Indiana Code 8-1-40"}},
	{"IL", []int{4110, 56697}, "", "2024-12-31", pricing.Regime{Name: "Net metering", Metering: metered, Source: "220 ILCS 5/16-107.5"}},
	{"IL", []int{4110, 56697}, "2025-01-01", "", pricing.Regime{Name: "Net metering of supply alone", Source: "220 ILCS 5/16-107.5"}},
	{"CT", []int{4176, 19497}, "", "2021-12-31", pricing.Regime{Name: "Net metering", Metering: metered, Source: "Connecticut General Statutes 16-243h"}},
	{"CT", []int{4176, 19497}, "2022-01-01", "", pricing.Regime{Name: "Residential Renewable Energy Solutions", Source: "Connecticut General Statutes 16-244z", Until: twenty}},
	{"NJ", []int{15477, 9726, 963}, "", "", pricing.Regime{Name: "Net metering", Metering: metered, Source: "N.J.A.C. 14:8-4"}},
	{"MD", []int{1167, 15270, 5027}, "", "", pricing.Regime{Name: "Net metering", Metering: metered, Source: "Maryland Public Utilities Article 7-306"}},
	{"FL", []int{6452, 6455, 18454}, "", "", pricing.Regime{Name: "Net metering", Metering: metered, Source: "Florida Administrative Code 25-6.065"}},
}

// Application holds the known dates of a home's interconnection. Date takes precedence
// over Year.
type Application struct {
	Date pricing.Date // of the application; zero if unknown
	Year int          // year of the system's connection; 0 if unknown
}

// longest is the maximum number of years from application to connection, from CPUC
// Decision 22-12-056.
const longest = 3

// Years returns the first and the last year in which the home may have applied. Both are 0
// if nothing is known.
func (a Application) Years() (first, last int) {
	switch {
	case !a.Date.IsZero():
		return a.Date.Year, a.Date.Year
	case a.Year != 0:
		return a.Year - longest, a.Year
	}
	return 0, 0
}

// Of returns the regime of a utility's home. If only the year of the connection is known,
// Of considers every possible day of application. It returns a regime if all these days
// agree, or a combined regime if two consecutive regimes settle exports in the same way.
// Otherwise it returns pricing.UnknownRegime.
func Of(state string, eiaID int, a Application) pricing.Regime {
	first, last := a.Date, a.Date
	if first.IsZero() && a.Year != 0 {
		first, last = pricing.Date{Year: a.Year - longest, Month: time.January, Day: 1}, pricing.Date{Year: a.Year, Month: time.December, Day: 31}
	}
	if first.IsZero() {
		return pricing.UnknownRegime()
	}
	earlier, later := ruleOn(state, eiaID, first), ruleOn(state, eiaID, last)
	switch {
	case earlier == nil || later == nil:
		return pricing.UnknownRegime()
	case earlier == later:
		return later.regimeOf(a)
	case later.follows(earlier) && later.regime.Metering != "" && later.regime.Metering == earlier.regime.Metering:
		return later.or(earlier).regimeOf(a)
	}
	return pricing.UnknownRegime()
}

// ruleOn returns the rule for applications of a day, or nil.
func ruleOn(state string, eiaID int, day pricing.Date) *rule {
	on := day.String()
	for i := range rules {
		if r := &rules[i]; r.state == state && slices.Contains(r.utilities, eiaID) && on >= r.from && (r.to == "" || on <= r.to) {
			return r
		}
	}
	return nil
}

// follows reports whether a rule begins on the day after an earlier rule.
func (r *rule) follows(earlier *rule) bool {
	last, err := time.Parse(time.DateOnly, earlier.to)
	return err == nil && r.from == last.AddDate(0, 0, 1).Format(time.DateOnly)
}

// or returns a rule for a home under either of two rules. It credits the whole import price
// only if both rules do, so that exports are not overestimated.
func (r *rule) or(earlier *rule) *rule {
	either := *r
	either.regime.Name = earlier.regime.Name + " or " + r.regime.Name
	either.regime.Source = earlier.regime.Source + " or " + r.regime.Source
	either.regime.CreditsAll = earlier.regime.CreditsAll && r.regime.CreditsAll
	either.regime.MayCreditAll = earlier.regime.CreditsAll != r.regime.CreditsAll
	return &either
}

// regimeOf returns the regime of a home with the last day on which it surely holds. The
// years of a regime count from the first possible day of the connection, which is never before
// the application.
func (r *rule) regimeOf(a Application) pricing.Regime {
	const years = 20
	regime := r.regime
	if regime.Until == twenty {
		connected := pricing.Date{Year: a.Year, Month: time.January, Day: 1}
		if connected.Before(a.Date) {
			connected = a.Date
		}
		regime.Ends = pricing.DateOf(time.Date(connected.Year+years, connected.Month, connected.Day-1, 0, 0, 0, 0, time.UTC))
	}
	return regime
}
