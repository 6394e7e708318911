package catalog_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// These are the totals that PG&E prints for each season and period, from each version's
// first day, above and within the baseline allowance. The printed components do not
// always add up to the last digit of the total.
func TestPGE_Sheets(t *testing.T) {
	var file struct {
		Tariffs []struct {
			Tariff, Effective string
			Totals            map[string]map[string]float64
			Baseline          struct{ Credit float64 }
		}
	}
	if err := json.Unmarshal(testdata(t, "tariffs", "pge_residential_2025_2026.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Tariffs) != 17 {
		t.Fatalf("%d versions", len(file.Tariffs))
	}
	for _, v := range file.Tariffs {
		id := "pge-" + strings.ToLower(v.Tariff)
		if v.Baseline.Credit != 0 {
			id += "-t"
		}
		tariff := parse(t, id)
		version := versionFrom(t, tariff, v.Effective)
		for season, periods := range v.Totals {
			for period, want := range periods {
				for usage, want := range map[float64]float64{0: want - v.Baseline.Credit, 1000: want} {
					got := sheetPrice(t, version, season, period, usage)
					if math.Abs(got-want) > 1.01e-5 {
						t.Errorf("%s from %s, %s %s at %v kWh a day: %v, want %v", id, v.Effective, season, period, usage, got, want)
					}
				}
			}
		}
	}
}

func parse(t *testing.T, id string) *pricing.Tariff {
	t.Helper()
	plan, ok := catalog.ByID(id)
	if !ok {
		t.Fatalf("no plan %s", id)
	}
	tariff, err := urdb.Parse(plan.URDB)
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

func versionFrom(t *testing.T, tariff *pricing.Tariff, day string) *pricing.Tariff {
	t.Helper()
	for _, v := range tariff.Versions() {
		if v.Info().EffectiveFrom.String() == day {
			return v
		}
	}
	t.Fatalf("%s: no version from %s", tariff.Info().Name, day)
	return nil
}

// sheetPrice finds the period by name and adds the riders.
func sheetPrice(t *testing.T, version *pricing.Tariff, season, period string, dailyKWh float64) float64 {
	t.Helper()
	month := map[string]time.Month{"summer": time.August, "winter": time.February}[season]
	day := version.Info().EffectiveFrom
	date := time.Date(day.Year, month, 20, 0, 0, 0, 0, time.UTC)
	if to := version.Info().EffectiveTo; date.Before(time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, time.UTC)) ||
		!to.IsZero() && date.After(time.Date(to.Year, to.Month, to.Day, 0, 0, 0, 0, time.UTC)) {
		return sheetSum(t, version, season, period, dailyKWh)
	}
	for date.Weekday() != time.Wednesday {
		date = date.AddDate(0, 0, 1)
	}
	hour := map[string]int{"peak": 18, "part_peak": 15, "off_peak": 3}[period]
	start := date.Add(time.Duration(hour) * time.Hour)
	c, err := pricing.Price(pricing.Input{Tariff: version, Location: time.UTC, Usage: pricing.Usage{DailyKWh: dailyKWh}},
		pricing.Window{Start: start, End: start.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return c.Import[0]
}

// sheetSum adds a version's components, for a season without a tested day.
func sheetSum(t *testing.T, version *pricing.Tariff, season, period string, dailyKWh float64) float64 {
	t.Helper()
	order := map[string]int{"off_peak": 0, "part_peak": 1, "peak": 2}
	day := version.AnyDay(version.Info().EffectiveFrom)
	n := day.Periods() / 2
	i := min(order[period], n-1)
	if season == "summer" {
		i += n
	}
	tiers := day.Tiers(i)
	tier := tiers[0]
	if dailyKWh > 0 {
		tier = tiers[len(tiers)-1]
	}
	sum := tier.Price()
	for _, r := range version.Riders() {
		sum += r.Rate
	}
	return sum
}

// Under net metering, California's non-bypassable charges are not credited. The sheets of
// 2026 print their sum.
func TestPlans_NonBypassable(t *testing.T) {
	for id, want := range map[string]string{"pge-e-elec": "0.01621", "sce-tou-d-prime": "0.01398", "sdge-ev-tou-5": "0.02099"} {
		tariff := parse(t, id)
		day := tariff.AnyDay(tariff.Info().EffectiveFrom)
		if got := fmt.Sprintf("%.5f", day.Uncredited); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}
