package pricing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// taxed is a rate of 0.20 with two riders and two taxes.
func taxed() doc {
	return flat(0.2).With("dgrules", "Net Metering").With("riders", []any{
		map[string]any{"name": "wildfire fund", "rate": 0.006, "credited": false},
		map[string]any{"name": "fuel", "rate": -0.016, "unit": "$/kWh", "startdate": "2026-03-01", "enddate": "2026-03-31"},
		map[string]any{"name": "city tax", "rate": 5, "unit": "%"},
		map[string]any{"name": "state tax", "rate": 2.5, "unit": "%", "startdate": "2026-03-02"},
	})
}

func TestRiders_Taxes(t *testing.T) {
	in := pricing.Input{Tariff: taxed().Parse(t), Location: time.UTC}
	for _, tt := range []struct {
		day             string
		imports, export float64
	}{
		{"2026-02-28", 0.206 * 1.05, 0.2 * 1.05},
		{"2026-03-01", 0.19 * 1.05, 0.184 * 1.05},
		{"2026-03-02", 0.19 * 1.075, 0.184 * 1.075},
		{"2026-03-31", 0.19 * 1.075, 0.184 * 1.075},
		{"2026-04-01", 0.206 * 1.075, 0.2 * 1.075},
	} {
		start := instant(tt.day + "T12:00:00Z")
		c := price(t, in, pricing.Window{Start: start, End: start.Add(pricing.Interval)})
		if !sameRate(c.Import[0], tt.imports) || !sameRate(c.Export[0], tt.export) {
			t.Errorf("%s: import %v, export %v; want %v and %v", tt.day, c.Import[0], c.Export[0], tt.imports, tt.export)
		}
	}
}

// The fuel adjustment of the rate database counts in its calendar month of every year, and in
// its tax.
func TestFuelAdjustment_ByMonth(t *testing.T) {
	tariff := flat(0.1).With("fueladjustmentsmonthly", []any{0.02, 0, 0, 0, 0, 0, "-0.01", 0, 0, 0, 0, 0}).
		With("riders", []any{map[string]any{"name": "tax", "rate": 10, "unit": "%"}}).Parse(t)
	in := pricing.Input{Tariff: tariff, Location: time.FixedZone("", -5*60*60)}
	for day, want := range map[string]float64{
		"2026-01-31T23:45:00-05:00": 0.132, "2026-02-01T00:00:00-05:00": 0.11, "2027-07-01T00:00:00-05:00": 0.099, "2027-08-01T00:00:00-05:00": 0.11,
	} {
		w := pricing.Window{Start: instant(day), End: instant(day).Add(pricing.Interval)}
		if c := price(t, in, w); c.Import[0] != want {
			t.Errorf("%s: %v, want %v", day, c.Import[0], want)
		}
		if reasons, err := pricing.Explain(in, w); err != nil || strings.Contains(reasons[0].String(), "rider fuel adjustment") != (want != 0.11) {
			t.Errorf("%s: %v, %v", day, reasons, err)
		}
	}
}

// The non-bypassable part of a rate is not credited.
func TestNonBypassable_NotCredited(t *testing.T) {
	for _, key := range []string{"nonbypassable", "nonbypassable_usd_kwh"} {
		tariff := flat(0.3).With("dgrules", "Net Metering").With(key, 0.0162).Parse(t)
		c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC}, window("2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z"))
		if c.Import[0] != 0.3 || c.Export[0] != 0.2838 {
			t.Errorf("%s: import %v, export %v", key, c.Import[0], c.Export[0])
		}
	}
}

// A regime that credits the whole price also credits the non-bypassable part, until it ends.
func TestNonBypassable_RegimeCreditsAll(t *testing.T) {
	tariff := flat(0.3).With("nonbypassable", 0.0162).Parse(t)
	regime := pricing.Regime{Name: "NEM 1.0", Metering: pricing.NetMetering, Source: "Order 1", CreditsAll: true}
	in := pricing.Input{Tariff: tariff, Location: time.UTC, Solar: &pricing.Solar{Regime: regime}}
	w := window("2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z")
	if c := price(t, in, w); c.Export[0] != 0.3 {
		t.Errorf("export %v, want 0.3", c.Export[0])
	}
	if reasons, err := pricing.Explain(in, w); err != nil || len(reasons[0].Export) != 1 {
		t.Errorf("the export price is explained by %+v, %v", reasons, err)
	}
	in.Tariff = flat(0.3).With("dgrules", "Net Metering").With("nonbypassable", 0.0162).Parse(t)
	in.Solar.Regime.Ends = pricing.Date{Year: 2025, Month: time.December, Day: 31}
	if c := price(t, in, w); c.Export[0] != 0.2838 {
		t.Errorf("after the regime's end: export %v, want 0.2838", c.Export[0])
	}
}

func TestConfidence_Source(t *testing.T) {
	months := make([]any, 12)
	for i := range months {
		months[i] = 0.5
	}
	months[0] = 1
	tariff := flat(0.3).With("confidence", months).With("caveat", "only January is known").Parse(t)
	c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC}, window("2026-01-31T23:45:00Z", "2026-02-01T00:15:00Z"))
	if c.Confidence[0] != 1 || c.Confidence[1] != 0.5 || tariff.Info().Caveat != "only January is known" {
		t.Errorf("got %v, %q", c.Confidence, tariff.Info().Caveat)
	}
}
