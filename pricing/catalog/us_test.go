package catalog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/catalog/internal/gen/build"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// testdata returns a file of the shared data, which is not part of this repository.
func testdata(t testing.TB, path ...string) []byte {
	t.Helper()
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{root, "data"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// openTariff is the collection's form, with all its fields.
type openTariff struct {
	ID, State, Utility, Plan, URDB, TZ string
	EIAID                              string `json:"eia_id"`
	Tariff                             struct {
		Kind   string
		Import struct {
			FlatRate float64
			Bands    []struct {
				ID   string
				Rate float64
			}
			Schedule []struct{ Days, From, To, Band string }
		}
		Supply struct{ Daily float64 }
	}
}

// at returns the collection's price in an hour of a weekday or of a weekend.
func (o *openTariff) at(hour int, weekend bool) float64 {
	if o.Tariff.Kind == "flat" {
		return o.Tariff.Import.FlatRate
	}
	clock := fmt.Sprintf("%02d:00", hour)
	for _, s := range o.Tariff.Import.Schedule {
		if s.Days == "weekday" && weekend || s.Days == "weekend" && !weekend || clock < s.From || clock >= s.To {
			continue
		}
		for _, band := range o.Tariff.Import.Bands {
			if band.ID == s.Band {
				return band.Rate
			}
		}
	}
	return math.NaN()
}

// usCatalog returns the plans of the US catalog.
func usCatalog() []catalog.Plan {
	return slices.DeleteFunc(slices.Clone(catalog.All()), func(p catalog.Plan) bool { return p.Checked || !strings.Contains(p.Source, "open-energy-tariffs") })
}

// The embedded catalog has every rate of the collection, with the collection's prices.
func TestUSCatalog_MatchesCollection(t *testing.T) {
	lines := bytes.Split(bytes.TrimSpace(testdata(t, "tariffs", "us_urdb_catalogue_cc0.ndjson")), []byte("\n")) //nolint:misspell // the collection's file has this name
	if len(lines) != len(usCatalog()) {
		t.Fatalf("%d rates in the catalog, %d in the collection", len(usCatalog()), len(lines))
	}
	for _, line := range lines {
		var o openTariff
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatal(err)
		}
		plan, ok := catalog.ByID(o.URDB)
		if !ok {
			t.Fatalf("%s: not in the catalog", o.URDB)
		}
		read, err := build.OpenTariff(line)
		if !strings.HasPrefix(plan.Caveat, read.Caveat) {
			t.Errorf("%s: caveat %q", o.URDB, plan.Caveat)
		}
		read.Caveat, read.Newer = plan.Caveat, plan.Newer // a line does not know the other lines
		if rate, wrong := read.RateJSON(); err != nil || wrong != nil || string(rate) != string(plan.URDB) {
			t.Errorf("%s: read %s, %v, %v", o.URDB, rate, err, wrong)
		}
		if plan.Utility != o.Utility || plan.Name != o.Plan || fmt.Sprint(plan.EIAID) != o.EIAID || plan.Timezone != o.TZ ||
			plan.State != o.State || read.FixedChargeFirstMeter != o.Tariff.Supply.Daily {
			t.Errorf("%s: got %+v", o.URDB, plan.Summary)
		}
		checkWeek(t, &o, plan)
	}
}

// checkWeek prices a week of January.
func checkWeek(t *testing.T, o *openTariff, plan catalog.Plan) {
	t.Helper()
	tariff, err := urdb.Parse(plan.URDB)
	if err != nil {
		t.Fatalf("%s: %v", plan.ID, err)
	}
	start := time.Date(2027, time.January, 4, 0, 0, 0, 0, time.UTC)
	w := pricing.Window{Start: start, End: start.AddDate(0, 0, 7)}
	curve, err := pricing.Price(pricing.Input{Tariff: tariff, Location: time.UTC}, w)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range curve.Import {
		at := w.At(i)
		want := o.at(at.Hour(), at.Weekday() == time.Saturday || at.Weekday() == time.Sunday)
		if !(math.Abs(got-want) < 1e-6) {
			t.Fatalf("%s at %v: %v, want %v", plan.ID, at, got, want)
		}
	}
}

// A rate without data for its other seasons is in doubt outside of January, and says so.
func TestUSCatalog_Doubts(t *testing.T) {
	counts := map[bool]int{}
	for _, plan := range usCatalog() {
		confidence := rateOf(t, plan).Confidence
		seasonal := confidence[6] < confidence[0]
		counts[seasonal]++
		if confidence[0] >= 1 || strings.Contains(plan.Caveat, "no hour of January") != seasonal {
			t.Errorf("%s: %v, %q", plan.ID, confidence, plan.Caveat)
		}
	}
	if counts[true] != 201 || counts[false] != 120 {
		t.Errorf("got %v", counts)
	}
}

func TestFind_UtilityAndName(t *testing.T) {
	for _, tt := range []struct {
		utility, name string
		first         string // identifier of the first plan found
		atLeast       int
	}{
		{"Salt River Project", "E-29", "5a59008c5457a3ad69423a7c", 1},
		{"alabama power", "family dwelling service", "53c3fb575257a3d37e5b36b6", 2},
		{"14328", "E-ELEC", "pge-e-elec", 1},
		{"pacific gas", "", "pge-e-elec", 50},
		{"CA", "territory x", "pge-e-1-x", 2},
		{"", "", "pge-e-elec", 321},
		{"PECO", "tou", "peco-r-tou", 1},
		{"", "PG&E e-elec", "pge-e-elec", 1},
		{"no such utility", "", "", 0},
	} {
		found := catalog.Find(tt.utility, tt.name)
		if len(found) < tt.atLeast || tt.atLeast == 0 && len(found) > 0 {
			t.Errorf("%q, %q: %d plans", tt.utility, tt.name, len(found))
			continue
		}
		if tt.atLeast > 0 && found[0].ID != tt.first {
			t.Errorf("%q, %q: found %s first, want %s", tt.utility, tt.name, found[0].ID, tt.first)
		}
	}
}

func TestOpenTariff_Errors(t *testing.T) {
	const head = `{"state":"AZ","utility":"Example","eia_id":"7","plan":"P","urdb":"x","tz":"UTC",`
	for _, tt := range []struct{ name, line, want string }{
		{"not JSON", `{`, "unexpected end of JSON input"},
		{"no name", `{"utility":"Example"}`, "utility, plan and urdb must be given"},
		{"two lines", `{"utility":"a\nb","plan":"P","urdb":"x"}`, "must be one line each"},
		{"EIA number", `{"utility":"a","plan":"P","urdb":"x","eia_id":"seven"}`, "eia_id"},
		{"kind", head + `"tariff":{"kind":"tiers"}}`, `tariff.kind: "tiers" has unknown rates`},
		{"no rate", head + `"tariff":{"kind":"tou","import":{"bands":[{"id":"a"}]}}}`, "bands[0]"},
		{"twice", head + `"tariff":{"kind":"tou","import":{"bands":[{"id":"a","rate":1},{"id":"a","rate":1}]}}}`, "bands[1]"},
		{"band", head + `"tariff":{"kind":"tou","import":{"bands":[{"id":"a","rate":1}],"schedule":[{"days":"all","from":"00:00","to":"24:00","band":"b"}]}}}`, `schedule[0]: band "b"`},
		{"half hour", head + `"tariff":{"kind":"tou","import":{"bands":[{"id":"a","rate":1}],"schedule":[{"days":"all","from":"00:00","to":"12:30","band":"a"}]}}}`, `to "12:30"`},
		{"days", head + `"tariff":{"kind":"tou","import":{"bands":[{"id":"a","rate":1}],"schedule":[{"days":"mon","from":"00:00","to":"24:00","band":"a"}]}}}`, `"mon" is not known`},
		{"gap", head + `"tariff":{"kind":"tou","import":{"bands":[{"id":"a","rate":1}],"schedule":[{"days":"all","from":"01:00","to":"24:00","band":"a"}]}}}`, "0:00 is covered 0 times"},
	} {
		if _, err := build.OpenTariff([]byte(tt.line)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
