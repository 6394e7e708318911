package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// on prices a plan in the first hour of a day.
func on(t *testing.T, p catalog.Plan, day string) *pricing.Curve {
	t.Helper()
	tariff, err := urdb.Parse(p.URDB)
	if err != nil {
		t.Fatalf("%s: %v", p.ID, err)
	}
	start, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pricing.Price(pricing.Input{Tariff: tariff, Location: time.UTC, Usage: pricing.Usage{DailyKWh: 5}}, pricing.Window{Start: start, End: start.Add(time.Hour)})
	if err != nil {
		t.Fatalf("%s: %v", p.ID, err)
	}
	return c
}

func TestPlans_SourceDate(t *testing.T) {
	before2018 := 0
	for _, p := range catalog.All() {
		day, err := time.Parse(time.DateOnly, p.SourceDate)
		if err != nil || day.After(time.Date(2026, time.August, 5, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: source of %q", p.ID, p.SourceDate)
		}
		if p.ID == rateOf(t, p).Label && day.Year() < 2018 {
			before2018++
		}
	}
	if before2018 != 236 {
		t.Errorf("%d rates of the US catalog were entered before 2018, want 236", before2018)
	}
}

// rate is the part of a plan's newest version that has no place in a pricing.Tariff.
type rate struct {
	Label      string
	Confidence []float64
	Items      []rate
}

func rateOf(t *testing.T, p catalog.Plan) rate {
	t.Helper()
	var r rate
	if err := json.Unmarshal(p.URDB, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Items) > 0 {
		r = r.Items[len(r.Items)-1]
	}
	return r
}

// full is the confidence in August for a plan that is not stale.
func full(t *testing.T, p catalog.Plan) float64 {
	t.Helper()
	if r := rateOf(t, p); r.Confidence != nil {
		return r.Confidence[7]
	}
	return 1
}

func TestPlans_Stale(t *testing.T) {
	stale := 0
	for _, p := range catalog.All() {
		c := on(t, p, "2026-08-06")
		old := p.SourceDate < "2024-08-05"
		if says := strings.Contains(c.ImportSource, "stale: its source is of "+p.SourceDate); says != old || old && c.Confidence[0] > 0.5 || !old && c.Confidence[0] != full(t, p) {
			t.Errorf("%s: source of %s, confidence %v, %q", p.ID, p.SourceDate, c.Confidence[0], c.ImportSource)
		}
		if old {
			stale++
		}
	}
	if stale < 300 {
		t.Errorf("%d plans are stale", stale)
	}
	e1, _ := catalog.ByID("539fbd5aec4f024c27d87ac1") // PG&E E-1 of 2014
	last := 1.0
	for _, tt := range []struct {
		day  string
		want float64
	}{{"2016-06-16", 0.9}, {"2016-06-17", 0.5}, {"2018-06-17", 0.25}, {"2026-08-06", 0.08}} {
		c := on(t, e1, tt.day)
		if c.Confidence[0] > tt.want || c.Confidence[0] < tt.want-0.01 || c.Confidence[0] > last {
			t.Errorf("on %s confidence is %v, want %v", tt.day, c.Confidence[0], tt.want)
		}
		last = c.Confidence[0]
	}
}

func TestPlans_Replacement(t *testing.T) {
	for id, want := range map[string]string{
		"539fbd5aec4f024c27d87ac1": "pge-e-1-t",
		"53fcccff5257a3db4fdbd600": "pge-e-1-p",
		"539fba8bec4f024bc1dc2f19": "53fded0a5257a3df6cfe952f", // E-6 in region Q, entered twice
		"539fc493ec4f024c27d8c8bf": "",                         // DR in one of four regions
		"pge-e-1-t":                "",
	} {
		p, ok := catalog.ByID(id)
		if !ok || p.Newer != want || want != "" && (!strings.Contains(p.Caveat, want) || !strings.Contains(on(t, p, "2026-08-06").ImportSource, want)) {
			t.Errorf("%s: newer is %q, want %q: %s", id, p.Newer, want, p.Caveat)
		}
		if other, ok := catalog.ByID(p.Newer); p.Newer != "" && (!ok || other.SourceDate <= p.SourceDate || other.EIAID != p.EIAID) {
			t.Errorf("%s points to %+v", id, other)
		}
	}
}

// A rate with two identifiers in the catalog has one price and one confidence.
func TestPlans_TwinsShareConfidence(t *testing.T) {
	twins := 0
	for _, p := range catalog.Plans() {
		twin, ok := catalog.ByID(rateOf(t, p).Label)
		if !ok || twin.ID == p.ID {
			continue
		}
		twins++
		for _, day := range []string{"2024-01-15", "2024-07-15", "2026-08-06"} {
			a, b := on(t, p, day), on(t, twin, day)
			if a.Confidence[0] != b.Confidence[0] || a.Import[0] != b.Import[0] {
				t.Errorf("%s on %s: %v at %v, and %v at %v", p.ID, day, a.Import[0], a.Confidence[0], b.Import[0], b.Confidence[0])
			}
		}
	}
	if twins != 3 {
		t.Errorf("%d twins, want 3", twins)
	}
}
