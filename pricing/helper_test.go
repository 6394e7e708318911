package pricing_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing"
)

// doc is a tariff document that a test may spoil before it is parsed.
type doc map[string]any

func (d doc) json(t testing.TB) []byte {
	t.Helper()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (d doc) parse(t testing.TB) *pricing.Tariff {
	t.Helper()
	tariff, err := pricing.ParseURDB(d.json(t))
	if err != nil {
		t.Fatalf("ParseURDB: %v", err)
	}
	return tariff
}

// with is a copy of d with one field replaced.
func (d doc) with(key string, value any) doc {
	c := doc{}
	for k, v := range d {
		c[k] = v
	}
	c[key] = value
	return c
}

// day spells a row of a schedule: "0x16 2x5" is sixteen zeros and five twos.
func day(spelling string) []any {
	var row []any
	for part := range strings.FieldsSeq(spelling) {
		var period, times int
		if _, err := fmt.Sscanf(part, "%dx%d", &period, &times); err != nil {
			panic(err)
		}
		for range times {
			row = append(row, period)
		}
	}
	return row
}

// year is a schedule with one row from October to May and another from June to
// September, which is how most US utilities divide the year.
func year(winter, summer string) []any {
	rows := make([]any, 12)
	for month := range rows {
		if month >= 5 && month <= 8 {
			rows[month] = day(summer)
		} else {
			rows[month] = day(winter)
		}
	}
	return rows
}

// tiers makes one period of tiers that are pairs of bound (0: none) and rate.
func tiers(pairs ...float64) []any {
	var list []any
	for i := 0; i < len(pairs); i += 2 {
		tier := map[string]any{"rate": pairs[i+1], "unit": "kWh"}
		if pairs[i] > 0 {
			tier["max"] = pairs[i]
		}
		list = append(list, tier)
	}
	return list
}

// jacksonEMC is Jackson EMC's schedule A of 2017: three tiers by month of usage,
// dearer in summer above the first, under net metering.
func jacksonEMC() doc {
	return doc{
		"label": "5a0b28045457a3ea2aca608e", "eiaid": 9601, "utility": "Jackson Electric Member Corp",
		"name": "A - Residential Service", "sector": "Residential", "startdate": "2017-01-01 00:00:00",
		"dgrules": "Net Metering", "source": "http://www.jacksonemc.com/sites/default/files/a-17_final.pdf",
		"fixedchargefirstmeter": 5.5, "fixedchargeunits": "$/month",
		"energyweekdayschedule": year("0x24", "1x24"),
		"energyweekendschedule": year("0x24", "1x24"),
		"energyratestructure": []any{
			tiers(650, 0.0896, 1000, 0.0831, 0, 0.0821),
			tiers(650, 0.0896, 1000, 0.1121, 0, 0.1181),
		},
	}
}

// apsSaverChoicePlus is Arizona Public Service's demand plan of 2019: energy is
// dearer from 15:00 to 20:00 on weekdays, the more so in summer, and every rate
// has an adjustment.
func apsSaverChoicePlus() doc {
	tier := func(rate float64) []any {
		return []any{map[string]any{"rate": rate, "adj": 0.018506, "unit": "kWh"}}
	}
	return doc{
		"label": "5a5935475457a3ad69423a82", "eiaid": 803, "utility": "Arizona Public Service Co",
		"name": "Residential Service (Saver Choice Plus)", "dgrules": "Net Billing Instantaneous",
		"fixedchargefirstmeter": 13.0, "fixedchargeunits": "$/month",
		"demandratestructure":   []any{tiers(0, 0), tiers(0, 8.4)},
		"energyweekdayschedule": year("0x15 1x5 0x4", "0x15 2x5 0x4"),
		"energyweekendschedule": year("0x24", "0x24"),
		"energyratestructure":   []any{tier(0.07798), tier(0.11017), tier(0.1316)},
	}
}

// flat is the smallest document that can be priced.
func flat(rate float64) doc {
	return doc{"name": "Flat", "energyratestructure": []any{tiers(0, rate)}}
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// instant reads an RFC 3339 time.
func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func window(from, to string) pricing.Window {
	return pricing.Window{Start: instant(from).UTC(), End: instant(to).UTC()}
}

// localDay is the window of one local day.
func localDay(location *time.Location, year int, month time.Month, day int) pricing.Window {
	return pricing.Window{
		Start: startOfDay(time.Date(year, month, day, 0, 0, 0, 0, location)),
		End:   startOfDay(time.Date(year, month, day+1, 0, 0, 0, 0, location)),
	}
}

// startOfDay moves on when a clock change took midnight away, for which
// time.Date gives an hour of the day before.
func startOfDay(midnight time.Time) time.Time {
	for midnight.Hour() == 23 {
		midnight = midnight.Add(pricing.Interval)
	}
	return midnight.UTC()
}

func price(t testing.TB, in pricing.Input, w pricing.Window) *pricing.Curve {
	t.Helper()
	c, err := pricing.Price(in, w)
	if err != nil {
		t.Fatalf("Price: %v", err)
	}
	return c
}
