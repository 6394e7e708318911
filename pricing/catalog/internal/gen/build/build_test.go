package build

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The embedded catalog has the plans of the sources.
func TestPlans_Embedded(t *testing.T) {
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: the sources are not at hand")
	}
	dir := filepath.Join(root, "data", "tariffs")
	plans, err := Plans(read(t, filepath.Join(dir, "us_urdb_catalogue_cc0.ndjson")), read(t, filepath.Join(dir, "pge_residential_2025_2026.json")), read(t, "../sheets.json")) //nolint:misspell // the collection's file has this name
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != len(catalog.All()) {
		t.Fatalf("%d plans, %d are embedded", len(plans), len(catalog.All()))
	}
	for i, embedded := range catalog.All() {
		rate, err := plans[i].RateJSON()
		if err != nil || !bytes.Equal(rate, embedded.URDB) || plans[i].Summary != embedded.Summary || plans[i].Checked != embedded.Checked {
			t.Errorf("%s: %+v, %s, %v", embedded.ID, plans[i].Summary, rate, err)
		}
	}
}

// sheet is a plan of sheets.json. The keys of its hours are ranges such as "16-21".
type sheet struct {
	ID      string
	Periods []struct {
		Name string
		Rate float64
	}
	Seasons []struct {
		Months           []time.Month
		Weekday, Weekend map[string]string
	}
}

// The price of a plan written by hand is the rate of the period that its season names, in
// every hour of every month.
func TestHandWritten_Hours(t *testing.T) {
	var sheets []sheet
	if err := json.Unmarshal(read(t, "../sheets.json"), &sheets); err != nil {
		t.Fatal(err)
	}
	plans, err := handWritten(read(t, "../sheets.json"), nil)
	if err != nil || len(plans) != 5 || len(sheets) != 5 {
		t.Fatalf("%d plans of %d, %v", len(plans), len(sheets), err)
	}
	for i, s := range sheets {
		rate, err := plans[i].RateJSON()
		if err != nil {
			t.Fatal(err)
		}
		tariff, err := urdb.Parse(rate)
		if err != nil {
			t.Fatal(err)
		}
		var months []time.Month
		for _, season := range s.Seasons {
			for _, month := range season.Months {
				months = append(months, month)
				weekend := season.Weekend
				if weekend == nil {
					weekend = season.Weekday
				}
				checkDay(t, s, tariff, time.Date(2027, month, 9, 0, 0, 0, 0, time.UTC), season.Weekday, weekend)
			}
		}
		if slices.Sort(months); len(slices.Compact(months)) != 12 {
			t.Errorf("%s: months %v", s.ID, months)
		}
	}
}

// checkDay prices the first Wednesday and the first Saturday from a day on that is neither a
// holiday nor near one.
func checkDay(t *testing.T, s sheet, tariff *pricing.Tariff, day time.Time, weekday, weekend map[string]string) {
	t.Helper()
	for on, hours := range map[time.Weekday]map[string]string{time.Wednesday: weekday, time.Saturday: weekend} {
		start := day.AddDate(0, 0, (int(on-day.Weekday())+7)%7)
		curve, err := pricing.Price(pricing.Input{Tariff: tariff, Location: time.UTC}, pricing.Window{Start: start, End: start.AddDate(0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for hour, name := range hours {
			from, err1 := time.Parse("15", hour[:2])
			to, err2 := time.Parse("15", hour[3:])
			if hour[3:] == "24" {
				to, err2 = from.Truncate(24*time.Hour).Add(24*time.Hour), nil
			}
			if err1 != nil || err2 != nil {
				t.Fatal(hour, err1, err2)
			}
			for at := from; at.Before(to); at = at.Add(pricing.Interval) {
				seen++
				got := curve.Import[at.Hour()*4+at.Minute()/15]
				if want := s.rate(name); !(math.Abs(got-want) < 1e-9) {
					t.Errorf("%s, %v at %v: %v, want %v", s.ID, start, at, got, want)
				}
			}
		}
		if seen != pricing.QuartersADay {
			t.Errorf("%s, %v: %d quarter hours", s.ID, start, seen)
		}
	}
}

func (s *sheet) rate(period string) float64 {
	for _, p := range s.Periods {
		if p.Name == period {
			return p.Rate
		}
	}
	return math.NaN()
}
