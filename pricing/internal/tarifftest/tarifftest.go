// Package tarifftest provides tariffs in the JSON of the US Utility Rate Database for the
// tests of pricing and its sub-packages.
package tarifftest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// Doc is a tariff document. A test may change it before parsing.
type Doc map[string]any

// JSON returns the document's text.
func (d Doc) JSON(t testing.TB) []byte {
	t.Helper()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Parse parses a valid document.
func (d Doc) Parse(t testing.TB) *pricing.Tariff {
	t.Helper()
	tariff, err := urdb.Parse(d.JSON(t))
	if err != nil {
		t.Fatalf("urdb.Parse: %v", err)
	}
	return tariff
}

// With returns a copy of d with one field replaced.
func (d Doc) With(key string, value any) Doc {
	c := maps.Clone(d)
	c[key] = value
	return c
}

// Day returns a row of a schedule: "0x16 2x5" is sixteen zeros and five twos.
func Day(spelling string) []any {
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

// Year returns a schedule with one row from October to May and another from June to
// September. Most US utilities divide the year in this way.
func Year(winter, summer string) []any {
	rows := make([]any, 12)
	for month := range rows {
		if month >= 5 && month <= 8 {
			rows[month] = Day(summer)
		} else {
			rows[month] = Day(winter)
		}
	}
	return rows
}

// Tiers returns one period of tiers from pairs of bound (0: no bound) and rate.
func Tiers(pairs ...float64) []any {
	var list []any
	for len(pairs) >= 2 {
		bound, rate := pairs[0], pairs[1]
		tier := map[string]any{"rate": rate, "unit": "kWh"}
		if bound > 0 {
			tier["max"] = bound
		}
		list, pairs = append(list, tier), pairs[2:]
	}
	return list
}

// JacksonEMC returns Jackson EMC's schedule A of 2017 under net metering. It has three
// tiers by month of usage. In summer the tiers above the first are more expensive.
func JacksonEMC() Doc {
	return Doc{
		"label": "5a0b28045457a3ea2aca608e", "eiaid": 9601, "utility": "Jackson Electric Member Corp",
		"name": "A - Residential Service", "sector": "Residential", "startdate": "2017-01-01 00:00:00",
		"dgrules": "Net Metering", "source": "http://www.jacksonemc.com/sites/default/files/a-17_final.pdf",
		"fixedchargefirstmeter": 5.5, "fixedchargeunits": "$/month",
		"energyweekdayschedule": Year("0x24", "1x24"),
		"energyweekendschedule": Year("0x24", "1x24"),
		"energyratestructure": []any{
			Tiers(650, 0.0896, 1000, 0.0831, 0, 0.0821),
			Tiers(650, 0.0896, 1000, 0.1121, 0, 0.1181),
		},
	}
}

// APSSaverChoicePlus returns Arizona Public Service's demand plan of 2019. Energy is more
// expensive from 15:00 to 20:00 on weekdays, especially in summer. Every rate has an
// adjustment.
func APSSaverChoicePlus() Doc {
	tier := func(rate float64) []any {
		return []any{map[string]any{"rate": rate, "adj": 0.018506, "unit": "kWh"}}
	}
	return Doc{
		"label": "5a5935475457a3ad69423a82", "eiaid": 803, "utility": "Arizona Public Service Co",
		"name": "Residential Service (Saver Choice Plus)", "dgrules": "Net Billing Instantaneous",
		"fixedchargefirstmeter": 13.0, "fixedchargeunits": "$/month",
		"demandratestructure":   []any{Tiers(0, 0), Tiers(0, 8.4)},
		"energyweekdayschedule": Year("0x15 1x5 0x4", "0x15 2x5 0x4"),
		"energyweekendschedule": Year("0x24", "0x24"),
		"energyratestructure":   []any{tier(0.07798), tier(0.11017), tier(0.1316)},
	}
}

// Flat returns the smallest document that can be priced.
func Flat(rate float64) Doc {
	return Doc{"name": "Flat", "energyratestructure": []any{Tiers(0, rate)}}
}

// Zone returns a time zone by its name.
func Zone(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// Window returns the window between two RFC 3339 times.
func Window(from, to string) pricing.Window {
	return pricing.Window{Start: Instant(from).UTC(), End: Instant(to).UTC()}
}

// Instant parses an RFC 3339 time.
func Instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// Price prices a window and fails the test on an error.
func Price(t testing.TB, in pricing.Input, w pricing.Window) *pricing.Curve {
	t.Helper()
	c, err := pricing.Price(in, w)
	if err != nil {
		t.Fatalf("Price: %v", err)
	}
	return c
}
