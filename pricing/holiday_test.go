package pricing_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// These are the observed days of the federal holidays, as the US Office of Personnel
// Management published them.
var observedByOPM = map[int][]string{
	2020: {"2020-01-01", "2020-01-20", "2020-02-17", "2020-05-25", "2020-07-03", "2020-09-07", "2020-10-12", "2020-11-11", "2020-11-26", "2020-12-25"},
	2021: {"2021-01-01", "2021-01-18", "2021-02-15", "2021-05-31", "2021-06-18", "2021-07-05", "2021-09-06", "2021-10-11", "2021-11-11", "2021-11-25", "2021-12-24", "2021-12-31"},
	2026: {"2026-01-01", "2026-01-19", "2026-02-16", "2026-05-25", "2026-06-19", "2026-07-03", "2026-09-07", "2026-10-12", "2026-11-11", "2026-11-26", "2026-12-25"},
}

// weekdayOnly costs 1 on weekdays and 0 on what counts as a weekend.
func weekdayOnly() doc {
	return doc{
		"name":                  "Weekdays",
		"energyratestructure":   []any{tiers(0, 0), tiers(0, 1)},
		"energyweekdayschedule": year("1x24", "1x24"),
		"energyweekendschedule": year("0x24", "0x24"),
	}
}

// weekendDays lists the weekdays of a year that are priced as a weekend.
func weekendDays(t *testing.T, tariff *pricing.Tariff, year int) []string {
	t.Helper()
	var days []string
	for day := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC); day.Year() == year; day = day.AddDate(0, 0, 1) {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			continue
		}
		c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC}, pricing.Window{Start: day, End: day.AddDate(0, 0, 1)})
		if c.Import[0] == 0 && c.Import[95] == 0 {
			days = append(days, day.Format(time.DateOnly))
		}
	}
	return days
}

func TestHolidays_FederalObserved(t *testing.T) {
	for _, spelling := range []doc{
		weekdayOnly().With("holidays", true),
		weekdayOnly().With("holidays", "federal"),
		weekdayOnly().With("holidays_as_weekend", true),
		weekdayOnly().With("holidaysasweekend", true),
	} {
		tariff := spelling.Parse(t)
		for year, want := range observedByOPM {
			got := weekendDays(t, tariff, year)
			if !slices.Equal(got, want) {
				t.Errorf("%d: got %v\nwant %v", year, got, want)
			}
		}
	}
}

// These are the eight holidays of California's tariffs in 2026, whose 4th of July is a
// Saturday. PG&E's list has the Friday before. SCE and SDG&E do not move it.
var (
	pge2026 = []string{"2026-01-01", "2026-02-16", "2026-05-25", "2026-07-03", "2026-09-07", "2026-11-11", "2026-11-26", "2026-12-25"}
	sce2026 = []string{"2026-01-01", "2026-02-16", "2026-05-25", "2026-09-07", "2026-11-11", "2026-11-26", "2026-12-25"}
)

func TestHolidays_CalendarName(t *testing.T) {
	for want, tariff := range map[string]doc{
		"PG&E, observed on Monday for a Sunday and on Friday for a Saturday":             weekdayOnly().With("holidays_as_weekend", true).With("eiaid", 14328),
		"SCE, observed on Monday for a Sunday and not moved from a Saturday":             weekdayOnly().With("holidays_as_weekend", true).With("eiaid", 17609),
		"federal, observed on Monday for a Sunday and on Friday for a Saturday":          weekdayOnly().With("holidays_as_weekend", true).With("eiaid", 4110),
		"the tariff's own, observed on Monday for a Sunday and on Friday for a Saturday": weekdayOnly().With("holidays", []any{"Labor Day"}),
		"the tariff's own": weekdayOnly().With("holidays", []any{"2026-03-17"}),
		"":                 weekdayOnly(),
	} {
		reasons, err := pricing.Explain(pricing.Input{Tariff: tariff.Parse(t), Location: time.UTC}, window("2026-03-16T00:00:00Z", "2026-03-16T00:15:00Z"))
		if err != nil || reasons[0].Calendar != want {
			t.Errorf("the calendar is %q, %v, want %q", reasons[0].Calendar, err, want)
		}
	}
}

func TestHolidays_Plan(t *testing.T) {
	for name, tt := range map[string]struct {
		tariff doc
		want   []string
	}{
		"none":                 {weekdayOnly(), nil},
		"false":                {weekdayOnly().With("holidays", false), nil},
		"not as weekend":       {weekdayOnly().With("holidaysasweekend", false), nil},
		"own days":             {weekdayOnly().With("holidays", []any{"2026-03-17", "2026-03-17", "2025-03-17"}), []string{"2026-03-17"}},
		"some names":           {weekdayOnly().With("holidays", []any{"New Year's Day", "Thanksgiving", "2026-11-27"}), []string{"2026-01-01", "2026-11-26", "2026-11-27"}},
		"saturdays stay":       {weekdayOnly().With("holidays", []any{"Independence Day", "Christmas"}).With("holidaysobserved", "monday"), []string{"2026-12-25"}},
		"as weekend, of PG&E":  {weekdayOnly().With("holidays_as_weekend", true).With("eiaid", 14328), pge2026},
		"as weekend, of SCE":   {weekdayOnly().With("holidays_as_weekend", true).With("eiaid", 17609), sce2026},
		"as weekend, of SDG&E": {weekdayOnly().With("holidaysasweekend", true).With("eiaid", 16609), sce2026},
		"a calendar by name":   {weekdayOnly().With("holidays_as_weekend", true).With("holidaycalendar", "sce").With("eiaid", 14328), sce2026},
		"a calendar alone":     {weekdayOnly().With("holidaycalendar", "PG&E"), pge2026},
		"a calendar, not used": {weekdayOnly().With("holidaycalendar", "PG&E").With("holidays_as_weekend", false), nil},
		"another observance":   {weekdayOnly().With("holidaycalendar", "PG&E").With("holidaysobserved", "monday"), sce2026},
		"list wins":            {weekdayOnly().With("holidays", []any{"Labor Day"}).With("holidaysasweekend", true), []string{"2026-09-07"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := weekendDays(t, tt.tariff.Parse(t), 2026); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// PG&E publishes the days that it prices as a weekend: eight of the federal holidays, on
// their observed days. The list's last two years, 2044 and 2045, add the day after three
// of them, unlike any other year. The test takes that for an error.
func TestHolidays_PublishedList(t *testing.T) {
	var published struct{ Holidays map[string][]string }
	readTestdata(t, &published, "data", "tariffs", "pge_residential_2025_2026.json")
	names := []any{"New Year", "Presidents Day", "Memorial Day", "Independence Day", "Labor Day", "Veterans Day", "Thanksgiving", "Christmas"}
	tariff := weekdayOnly().With("holidays", names).Parse(t)
	if len(published.Holidays) < 10 {
		t.Fatalf("%d years", len(published.Holidays))
	}
	for year, want := range published.Holidays {
		first, err := time.Parse("2006", year)
		if err != nil {
			t.Fatal(err)
		}
		if first.Year() >= 2044 {
			continue
		}
		if got := weekendDays(t, tariff, first.Year()); !slices.Equal(got, want) {
			t.Errorf("%s: got %v\nwant %v", year, got, want)
		}
	}
}

// testdata returns a file of the shared data, which is not part of this repository.
func testdata(t testing.TB, path ...string) []byte {
	t.Helper()
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readTestdata(t testing.TB, into any, path ...string) {
	t.Helper()
	if err := json.Unmarshal(testdata(t, path...), into); err != nil {
		t.Fatal(err)
	}
}

// A plan without holidays in its source may have the weekend price on a federal holiday. The
// weekday price has less confidence then, and a reason, if it is the higher price.
func TestHolidays_Unknown(t *testing.T) {
	for name, tt := range map[string]struct {
		tariff     doc
		date       string
		confidence float64
		doubt      string
	}{
		"holiday":          {weekdayOnly(), "2026-11-26", 0.27, "the plan's source names no holidays: the weekday price of this holiday may be too high"},
		"weekday":          {weekdayOnly(), "2026-11-25", 1, ""},
		"Saturday":         {weekdayOnly(), "2026-11-28", 1, ""},
		"no such holidays": {weekdayOnly().With("holidays", []any{}), "2026-11-26", 1, ""},
		"known holidays":   {weekdayOnly().With("holidays", []any{"Christmas"}), "2026-11-26", 1, ""},
		"no calendar":      {weekdayOnly().With("holidays_as_weekend", false), "2026-11-26", 1, ""},
		"one price":        {flat(0.3), "2026-11-26", 1, ""},
	} {
		day, err := time.Parse(time.DateOnly, tt.date)
		if err != nil {
			t.Fatal(err)
		}
		w := pricing.Window{Start: day.Add(12 * time.Hour), End: day.Add(13 * time.Hour)}
		reasons, err := pricing.Explain(pricing.Input{Tariff: tt.tariff.Parse(t), Location: time.UTC}, w)
		if err != nil || reasons[0].Confidence != tt.confidence || reasons[0].Doubt != tt.doubt {
			t.Errorf("%s: %v, %v; want %v, %q", name, reasons, err, tt.confidence, tt.doubt)
		}
	}
}
