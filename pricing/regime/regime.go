package regime

import (
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Regime is a set of rules for the solar of homes.
type Regime struct {
	Name string `json:"name" doc:"The regime, or unknown." example:"NEM 2.0"`
	// Metering is NetMetering or NetBilling; empty if the regime is neither, or unknown.
	Metering pricing.CompensationType `json:"metering,omitempty" doc:"NET_METERING or NET_BILLING; absent where the regime is neither, or not known." example:"NET_METERING"`
	Source   string                   `json:"source,omitempty" doc:"The statute or order." example:"CPUC Decision 16-01-044"`
	Until    string                   `json:"until,omitempty" doc:"How long the regime holds for a home in it." example:"20 years from connection"`
}

// Unknown returns the regime of cases without a known rule.
func Unknown() Regime { return Regime{Name: "unknown"} }

// rule is a regime for applications within a span of time.
type rule struct {
	state     string
	utilities []int // EIA numbers
	from, to  string
	Regime
}

const (
	metered = pricing.NetMetering
	billed  = pricing.NetBilling

	twenty = "20 years from connection"
)

// rules are in no particular order, as at most one applies to an application.
var rules = []rule{
	{"CA", []int{14328}, "", "2016-12-14", Regime{"NEM 1.0", metered, "CPUC Decision 14-03-041", twenty}},
	{"CA", []int{16609}, "", "2016-06-28", Regime{"NEM 1.0", metered, "CPUC Decision 14-03-041", twenty}},
	{"CA", []int{17609}, "", "2017-06-30", Regime{"NEM 1.0", metered, "CPUC Decision 14-03-041", twenty}},
	{"CA", []int{14328}, "2016-12-15", "2023-04-14", Regime{"NEM 2.0", metered, "CPUC Decision 16-01-044", twenty}},
	{"CA", []int{16609}, "2016-06-29", "2023-04-14", Regime{"NEM 2.0", metered, "CPUC Decision 16-01-044", twenty}},
	{"CA", []int{17609}, "2017-07-01", "2023-04-14", Regime{"NEM 2.0", metered, "CPUC Decision 16-01-044", twenty}},
	{"CA", []int{14328, 16609, 17609}, "2023-04-15", "", Regime{"Net Billing Tariff", billed, "CPUC Decision 22-12-056", ""}},
	{"AZ", []int{803}, "", "2017-08-31", Regime{"Net metering", metered, "Arizona Corporation Commission Decision 76295", twenty}},
	{"AZ", []int{803}, "2017-09-01", "", Regime{"Resource Comparison Proxy", billed, "Arizona Corporation Commission Decisions 75859 and 76295", ""}},
	{"HI", []int{19547, 11843, 8287}, "", "2015-10-12", Regime{"Net energy metering", metered, "Hawaii PUC Order 33258", ""}},
	{"UT", []int{14354}, "", "2017-11-15", Regime{"Net metering, Schedule 135", metered, "Utah PSC Docket 14-035-114", "the end of 2035"}},
	{"UT", []int{14354}, "2020-10-31", "", Regime{"Net billing, Schedule 137", billed, "Utah PSC Docket 17-035-61", ""}},
	{"IN", []int{15470, 9324, 9273, 13756}, "", "2017-12-31", Regime{"Net metering", metered, "Indiana Code 8-1-40", "2047-07-01"}},
	{"IN", []int{15470, 9324, 9273, 13756}, "2022-07-01", "", Regime{"Excess distributed generation", billed, "Indiana Code 8-1-40", ""}},
	{"IL", []int{4110, 56697}, "", "2024-12-31", Regime{"Net metering", metered, "220 ILCS 5/16-107.5", ""}},
	{"IL", []int{4110, 56697}, "2025-01-01", "", Regime{"Net metering of supply alone", "", "220 ILCS 5/16-107.5", ""}},
	{"CT", []int{4176, 19497}, "", "2021-12-31", Regime{"Net metering", metered, "Connecticut General Statutes 16-243h", ""}},
	{"CT", []int{4176, 19497}, "2022-01-01", "", Regime{"Residential Renewable Energy Solutions", "", "Connecticut General Statutes 16-244z", twenty}},
	{"NJ", []int{15477, 9726, 963}, "", "", Regime{"Net metering", metered, "N.J.A.C. 14:8-4", ""}},
	{"MD", []int{1167, 15270, 5027}, "", "", Regime{"Net metering", metered, "Maryland Public Utilities Article 7-306", ""}},
	{"FL", []int{6452, 6455, 18454}, "", "", Regime{"Net metering", metered, "Florida Administrative Code 25-6.065", ""}},
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

// Of returns the regime of a utility's home on a day. If only the year of the connection
// is known, Of considers every possible day of application. It returns a regime if all
// these days agree, and otherwise Unknown.
func Of(state string, eiaID int, a Application, on pricing.Date) Regime {
	first, last := a.Date, a.Date
	if first.IsZero() && a.Year != 0 {
		first, last = pricing.Date{Year: a.Year - longest, Month: time.January, Day: 1}, pricing.Date{Year: a.Year, Month: time.December, Day: 31}
	}
	if last = earlier(last, on); first.IsZero() || last.Before(first) {
		return Unknown()
	}
	for _, r := range rules {
		if r.holds(state, eiaID, first) && r.holds(state, eiaID, last) && !r.over(connected(a), on) {
			return r.Regime
		}
	}
	return Unknown()
}

// Now returns the regime of a home that applies on a day.
func Now(state string, eiaID int, on pricing.Date) Regime {
	return Of(state, eiaID, Application{Date: on}, on)
}

func (r *rule) holds(state string, eiaID int, on pricing.Date) bool {
	if r.state != state || !slices.Contains(r.utilities, eiaID) {
		return false
	}
	day := on.String()
	return day >= r.from && (r.to == "" || day <= r.to)
}

// over reports whether the years of a regime may have ended for a home connected in a
// year.
func (r *rule) over(year int, on pricing.Date) bool {
	const years = 20
	return r.Until == twenty && on.Year >= year+years
}

// connected returns the first possible year of the system's connection.
func connected(a Application) int {
	if a.Year != 0 {
		return a.Year
	}
	return a.Date.Year
}

func earlier(a, b pricing.Date) pricing.Date {
	if b.Before(a) {
		return b
	}
	return a
}
