package catalog_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

func TestPlans_Usable(t *testing.T) {
	seen := map[string]bool{}
	for _, plan := range catalog.All() {
		t.Run(plan.ID, func(t *testing.T) {
			if plan.ID == "" || seen[plan.ID] {
				t.Errorf("id %q is empty or used twice", plan.ID)
			}
			seen[plan.ID] = true
			if plan.Utility == "" || plan.Name == "" || plan.EIAID == 0 || plan.Source == "" {
				t.Errorf("a plan names its utility, name and source: %+v", plan)
			}
			if _, err := time.LoadLocation(plan.Timezone); err != nil {
				t.Error(err)
			}
		})
	}
	if got := len(catalog.Plans()); got != 7 {
		t.Errorf("%d plans are checked one by one, want the seven of SOURCES.md", got)
	}
	if got := len(usCatalog()); got != 321 {
		t.Errorf("%d plans in the US catalog, want 321", got)
	}
}

// These are rates as printed in the tariff sheets and the rate database.
func TestPlans_PublishedRates(t *testing.T) {
	for _, tt := range []struct {
		id      string
		at      string // local hour
		want    float64
		charge  float64
		fromDay string
	}{
		{"pge-e-elec", "2026-07-15T16:00", 0.55214, 0.79343, "2026-03-01"},
		{"pge-e-elec", "2026-07-15T15:00", 0.39026, 0.79343, "2026-03-01"},
		{"pge-e-elec", "2026-12-15T03:00", 0.28468, 0.79343, "2026-03-01"},
		{"pge-ev2-a", "2026-07-15T16:00", 0.53809, 0.79343, "2026-03-01"},
		{"sce-tou-d-prime", "2026-07-15T16:00", 0.59291, 0.794, "2026-06-01"},
		{"sce-tou-d-prime", "2026-07-18T16:00", 0.40182, 0.794, "2026-06-01"},
		{"sdge-ev-tou-5", "2026-10-14T10:00", 0.1309, 0.79343, "2026-08-01"},
		{"aps-r-1-small", "2026-07-15T16:00", 0.13119, 0.3157, ""},
		{"alabama-power-fd-pev", "2026-07-15T04:00", 0.14304, 0.50099, ""},
		{"peco-r-tou", "2026-07-15T14:00", 0.42055, 0.3456, ""},
		{"peco-r-tou", "2026-07-18T14:00", 0.176, 0.3456, ""},
	} {
		plan := planByID(t, tt.id)
		location, err := time.LoadLocation(plan.Timezone)
		if err != nil {
			t.Fatal(err)
		}
		start, err := time.ParseInLocation("2006-01-02T15:04", tt.at, location)
		if err != nil {
			t.Fatal(err)
		}
		tariff, err := urdb.Parse(plan.URDB)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := pricing.Price(pricing.Input{Tariff: tariff, Location: location}, pricing.Window{Start: start, End: start.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if info := tariff.Info(); curve.Import[0] != tt.want || info.FixedCharge.Amount != tt.charge || info.EffectiveFrom.String() != tt.fromDay {
			t.Errorf("%s at %s: %v $/kWh, fixed %v, from %q", tt.id, tt.at, curve.Import[0], info.FixedCharge, info.EffectiveFrom)
		}
	}
}

func planByID(t *testing.T, id string) catalog.Plan {
	t.Helper()
	for _, plan := range catalog.Plans() {
		if plan.ID == id {
			return plan
		}
	}
	t.Fatalf("no plan %s", id)
	return catalog.Plan{}
}

// The source of PECO's plan names no holidays. The explanation of a peak price on
// Thanksgiving says so, and that of the morning does not.
func TestPlans_UnknownHolidays(t *testing.T) {
	plan, _ := catalog.ByID("peco-r-tou")
	tariff, err := urdb.Parse(plan.URDB)
	if err != nil {
		t.Fatal(err)
	}
	location, err := time.LoadLocation(plan.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	for hour, want := range map[int]bool{9: false, 14: true} {
		at := time.Date(2026, time.November, 26, hour, 0, 0, 0, location)
		reasons, err := pricing.Explain(pricing.Input{Tariff: tariff, Location: location}, pricing.Window{Start: at, End: at.Add(pricing.Interval)})
		if err != nil || strings.Contains(reasons[0].Doubt, "the plan's source names no holidays") != want {
			t.Errorf("%d:00: %v, %v, want the doubt: %v", hour, reasons, err, want)
		}
	}
}
