package regime_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/regime"
)

func date(t *testing.T, s string) (d pricing.Date) {
	t.Helper()
	if s == "" {
		return d
	}
	d, err := pricing.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOf_ApplicationDates(t *testing.T) {
	const pge, sce, aps, comed = 14328, 17609, 803, 4110
	for _, tt := range []struct {
		state   string
		utility int
		applied string
		year    int
		want    string
	}{
		{"CA", pge, "2016-12-14", 0, "NEM 1.0"},
		{"CA", pge, "2016-12-15", 0, "NEM 2.0"},
		{"CA", sce, "2017-06-30", 0, "NEM 1.0"},
		{"CA", pge, "2023-04-14", 2025, "NEM 2.0"},
		{"CA", pge, "2023-04-15", 0, "Net Billing Tariff"},
		{"CA", pge, "", 2015, "NEM 1.0"},
		{"CA", pge, "", 2016, "NEM 1.0 or NEM 2.0"},
		{"CA", pge, "", 2017, "NEM 1.0 or NEM 2.0"},
		{"CA", sce, "", 2019, "NEM 1.0 or NEM 2.0"},
		{"CA", sce, "", 2020, "NEM 1.0 or NEM 2.0"},
		{"CA", pge, "", 2020, "NEM 2.0"},
		{"CA", pge, "", 2021, "NEM 2.0"},
		{"CA", pge, "", 2023, "unknown"},
		{"CA", pge, "", 2024, "unknown"}, // it may have been applied for in 2022
		{"CA", pge, "", 2027, "Net Billing Tariff"},
		{"CA", pge, "2003-05-01", 2004, "unknown"}, // its 20 years are over
		{"CA", pge, "", 0, "unknown"},
		{"AZ", aps, "2017-08-31", 0, "Net metering"},
		{"AZ", aps, "2017-09-01", 0, "Resource Comparison Proxy"},
		{"CA", aps, "2017-09-01", 0, "unknown"},
		{"UT", 14354, "2019-01-01", 0, "unknown"},
		{"UT", 14354, "", 2020, "unknown"},
		{"AZ", aps, "", 2018, "unknown"},
		{"IL", comed, "", 2026, "unknown"},
		{"OR", 14354, "2021-01-01", 0, "unknown"},
		{"IL", comed, "2024-12-31", 0, "Net metering"},
		{"IL", comed, "2025-01-01", 0, "Net metering of supply alone"},
		{"TX", 44372, "2020-01-01", 0, "unknown"},
	} {
		on := pricing.Date{Year: 2028, Month: time.July, Day: 1}
		got := regime.Of(tt.state, tt.utility, regime.Application{Date: date(t, tt.applied), Year: tt.year}).On(on)
		if got.Name != tt.want || (got.Name == "unknown") != (got.Source == "") {
			t.Errorf("%s %d, applied %q, connected %d: %+v, want %s", tt.state, tt.utility, tt.applied, tt.year, got, tt.want)
		}
		if got.CreditsAll != (tt.want == "NEM 1.0") {
			t.Errorf("%s credits the whole price: %v", got.Name, got.CreditsAll)
		}
		if got.MayCreditAll != (tt.want == "NEM 1.0 or NEM 2.0") {
			t.Errorf("%s may credit the whole price: %v", got.Name, got.MayCreditAll)
		}
	}
}

// TestOf_Ends checks the last day of 20 years from the first possible day of the connection.
func TestOf_Ends(t *testing.T) {
	const pge = 14328
	for _, tt := range []struct {
		applied string
		year    int
		ends    string
	}{
		{"2006-12-10", 0, "2026-12-09"},
		{"2006-12-10", 2006, "2026-12-09"},
		{"2006-12-10", 2007, "2026-12-31"},
		{"2006-01-01", 0, "2025-12-31"},
		{"2008-02-29", 0, "2028-02-28"},
		{"", 2006, "2025-12-31"},
	} {
		got := regime.Of("CA", pge, regime.Application{Date: date(t, tt.applied), Year: tt.year})
		if got.Ends != date(t, tt.ends) {
			t.Errorf("applied %q, connected %d: ends on %v, want %s", tt.applied, tt.year, got.Ends, tt.ends)
		}
	}
}

// A home connects up to three years after its application.
func TestApplication_Years(t *testing.T) {
	for _, tt := range []struct {
		applied     string
		year        int
		first, last int
	}{
		{"2023-04-14", 2025, 2023, 2023},
		{"2023-04-14", 0, 2023, 2023},
		{"", 2025, 2022, 2025},
		{"", 0, 0, 0},
	} {
		if first, last := (regime.Application{Date: date(t, tt.applied), Year: tt.year}).Years(); first != tt.first || last != tt.last {
			t.Errorf("applied %q, connected %d: %d to %d, want %d to %d", tt.applied, tt.year, first, last, tt.first, tt.last)
		}
	}
}
