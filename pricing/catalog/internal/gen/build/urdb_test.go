package build

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// plans returns all plans, or those written by hand if the other sources are not at hand.
func plans(t *testing.T) []Plan {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	written, root := read("../sheets.json"), os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		list, err := handWritten(written, nil)
		if err != nil || len(list) != 5 {
			t.Fatalf("%d plans, %v", len(list), err)
		}
		return list
	}
	dir := filepath.Join(root, "data", "tariffs")
	all, err := Plans(read(filepath.Join(dir, "us_urdb_catalogue_cc0.ndjson")), read(filepath.Join(dir, "pge_residential_2025_2026.json")), written) //nolint:misspell // the collection's file has this name
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every plan parses as a tariff. Its price in every hour of every month equals the rate
// of the period that its seasons name.
func TestPlans_URDBMatchesSeasons(t *testing.T) {
	for _, plan := range plans(t) {
		if plan.Baseline != nil {
			continue // its rates depend on the usage: see TestPGE_Sheets of package catalog
		}
		t.Run(plan.ID, func(t *testing.T) {
			data, err := plan.URDB()
			if err != nil {
				t.Fatal(err)
			}
			tariff, err := urdb.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			info := tariff.Info()
			if info.Name != plan.Name || info.Utility != plan.Utility || info.EIAID != plan.EIAID || info.Source != plan.Source {
				t.Errorf("got %+v", info)
			}
			if info.EffectiveFrom.String() != plan.EffectiveFrom || info.FixedCharge != plan.FixedCharge {
				t.Errorf("got %v and %+v", info.EffectiveFrom, info.FixedCharge)
			}
			for month := time.January; month <= time.December; month++ {
				checkMonth(t, plan, tariff, month)
			}
		})
	}
}

// checkMonth prices the second Saturday of a month, which is not a holiday, and the
// Wednesday before it.
func checkMonth(t *testing.T, plan Plan, tariff *pricing.Tariff, month time.Month) {
	t.Helper()
	season := seasonOf(t, plan, month)
	day := time.Date(2027, month, 8, 0, 0, 0, 0, time.UTC)
	for day.Weekday() != time.Saturday {
		day = day.AddDate(0, 0, 1)
	}
	weekend := season.Weekend
	if weekend == nil {
		weekend = season.Weekday
	}
	for back, hours := range map[int][]string{0: weekend, 3: season.Weekday} {
		start := day.AddDate(0, 0, -back)
		curve, err := pricing.Price(pricing.Input{Tariff: tariff, Location: time.UTC}, pricing.Window{Start: start, End: start.AddDate(0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range curve.Import {
			if want := rateOf(t, plan, hours[i/4]); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v at %d:00: %v $/kWh, want %v", start.Format(time.DateOnly), i/4, got, want)
			}
		}
	}
}

func seasonOf(t *testing.T, plan Plan, month time.Month) Season {
	t.Helper()
	var found []Season
	for _, season := range plan.Seasons {
		if slices.Contains(season.Months, int(month)) {
			found = append(found, season)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%v is in %d seasons", month, len(found))
	}
	return found[0]
}

// rateOf returns the rate of a period with the riders.
func rateOf(t *testing.T, plan Plan, name string) float64 {
	t.Helper()
	for _, period := range plan.Periods {
		if period.Name == name {
			rate := period.Rate
			for _, rider := range plan.Riders {
				rate += rider.Rate
			}
			return rate
		}
	}
	t.Fatalf("no period is named %q", name)
	return 0
}
