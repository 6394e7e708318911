package pricing_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/netbilling"
)

// The year of the home's application selects the vintage of its export values. A vintage
// without a table, or one that is not certain, has less confidence and a reason.
func TestNetBilling_Vintage(t *testing.T) {
	w := window("2026-09-02T02:00:00Z", "2026-09-02T02:15:00Z")
	const sure, lower = 1, 0.7
	for name, tt := range map[string]struct {
		plan        string
		first, last int
		values      string
		confidence  float64
		doubt       string
	}{
		"older":                  {"PG&E NBT26", 2024, 2024, "PG&E NBT24", sure, ""},
		"the first":              {"PG&E NBT26", 2021, 2023, "PG&E NBT23", sure, ""},
		"of the plan":            {"PG&E NBT26", 2026, 2026, "PG&E NBT26", sure, ""},
		"two years of one table": {"SCE NBT24", 2021, 2024, "SCE NBT24", sure, ""},
		"two equal tables":       {"PG&E NBT26", 2021, 2024, "PG&E NBT24", sure, ""},
		"two newer equal tables": {"PG&E NBT23", 2025, 2026, "PG&E NBT26", sure, ""},
		"floating":               {"PG&E NBT00", 2024, 2024, "PG&E NBT00", sure, ""},
		"no table":               {"SCE NBT24", 2026, 2026, "SCE NBT24", lower, "the export values SCE NBT26 of the home's vintage are not available: SCE NBT23/NBT24 is used"},
		"newest table":           {"PG&E NBT23", 2027, 2027, "PG&E NBT26", lower, "the export values PG&E NBT27 of the home's vintage are not available: PG&E NBT26 is used"},
		"several years":          {"PG&E NBT26", 2022, 2025, "PG&E NBT25", lower, "the home's vintage of export values is one of PG&E NBT23 to PG&E NBT25: PG&E NBT25 is used"},
		"unknown":                {"PG&E NBT26", 0, 0, "PG&E NBT26", lower, "the home's vintage of export values is not known: PG&E NBT26 is assumed"},
		"before net billing":     {"PG&E NBT26", 2020, 2020, "PG&E NBT26", lower, "the home's vintage of export values is not known: PG&E NBT26 is assumed"},
	} {
		values, _ := netbilling.Named(tt.values)
		in := pricing.Input{
			Tariff: flat(0.4).With("exportvalues", tt.plan).Parse(t), Location: zone(t, "America/Los_Angeles"),
			Solar: &pricing.Solar{SizeKw: 5, NonNetMetered: true, AppliedFrom: tt.first, AppliedTo: tt.last},
		}
		got := price(t, in, w)
		if want := values.At(2026, time.September, false, 19).Total(); !sameRate(got.Export[0], want) || got.Confidence[0] != tt.confidence {
			t.Errorf("%s: export %v with confidence %v, want %v with %v", name, got.Export[0], got.Confidence[0], want, tt.confidence)
		}
		if !strings.Contains(got.ExportCompensation.Description, values.String()) {
			t.Errorf("%s: described as %q", name, got.ExportCompensation.Description)
		}
		reasons, err := pricing.Explain(in, w)
		if err != nil || reasons[0].Doubt != tt.doubt || reasons[0].Export[0].Name != values.String()+" generation" {
			t.Errorf("%s: %+v, %v; want the doubt %q", name, reasons, err, tt.doubt)
		}
		in.Tariff = in.Tariff.WithExportValues(values)
		if own := price(t, in, w); own.Confidence[0] != 1 || own.Export[0] != got.Export[0] {
			t.Errorf("%s, named by the home: export %v with confidence %v", name, own.Export[0], own.Confidence[0])
		}
	}
}

// The confidence in prices that another vintage changes is the share of hours in which
// two vintages have similar values.
func TestNetBilling_ConfidenceInVintages(t *testing.T) {
	older, _ := netbilling.Named("PG&E NBT24")
	newer, _ := netbilling.Named("PG&E NBT26")
	similar, days := 0, 0
	for month := time.January; month <= time.December; month++ {
		for weekend, share := range map[bool]int{false: 5, true: 2} {
			for hour := range 24 {
				a, b := older.At(2026, month, weekend, hour).Total(), newer.At(2026, month, weekend, hour).Total()
				if days += share; math.Abs(a-b) <= b/10 {
					similar += share
				}
			}
		}
	}
	share := math.Round(100*float64(similar)/float64(days)) / 100
	phoenix, chance := zone(t, "America/Phoenix"), phoenixChance(t)
	in := pricing.Input{Tariff: flat(0.3).With("exportvalues", "PG&E NBT26").Parse(t), Location: phoenix, Solar: &pricing.Solar{SizeKw: 6, NonNetMetered: true}, ExportChance: chance}
	c := price(t, in, localDay(phoenix, 2026, time.April, 15))
	for i, got := range c.Confidence {
		want := 0.7
		if chance.At(c.Window.At(i).Unix())*c.Export[i] > c.Price[i]/10 {
			want = share
		}
		if got != want {
			t.Fatalf("at %v: confidence %v, want %v", c.Window.At(i), got, want)
		}
	}
	if c.Confidence[48] != share || c.Confidence[0] == share {
		t.Errorf("confidence %v at noon, %v at midnight", c.Confidence[48], c.Confidence[0])
	}
}
