package pricing_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
)

// explain returns the reasons of a window. It checks that they add up to the curve.
func explain(t testing.TB, in pricing.Input, w pricing.Window) []pricing.Reason {
	t.Helper()
	reasons, err := pricing.Explain(in, w)
	if err != nil {
		t.Fatal(err)
	}
	c := price(t, in, w)
	if len(reasons) != c.Len() {
		t.Fatalf("%d reasons for %d intervals", len(reasons), c.Len())
	}
	for i, r := range reasons {
		if !addsUp(r.Import, c.Import[i]) || !addsUp(r.Export, c.Export[i]) || r.Price != c.Price[i] || r.Confidence != c.Confidence[i] || !r.Start.Equal(w.At(i)) {
			t.Fatalf("interval %d: %+v\ndoes not explain import %v, export %v, price %v, confidence %v",
				i, r, c.Import[i], c.Export[i], c.Price[i], c.Confidence[i])
		}
		if (r.Confidence < 1) != (r.Doubt != "") {
			t.Fatalf("interval %d: confidence %v, doubt %q", i, r.Confidence, r.Doubt)
		}
	}
	return reasons
}

func addsUp(parts []pricing.Part, want float64) bool {
	sum := 0.0
	for _, p := range parts {
		sum += p.Rate
	}
	return math.Abs(sum-want) <= 1.01e-6
}

func TestExplain_Complete(t *testing.T) {
	tariff := jacksonEMC().With("energytoulabels", []any{"Winter", "Summer"}).With("holidays", true).
		With("riders", []any{
			map[string]any{"name": "fuel", "rate": 0.01, "credited": false},
			map[string]any{"name": "old", "rate": 9, "enddate": "2020-01-01"},
			map[string]any{"name": "city tax", "rate": 5, "unit": "%"},
		}).Parse(t)
	region, _ := carbon.Of("GA", "")
	in := pricing.Input{
		Tariff: tariff, Location: time.UTC, Usage: pricing.Usage{DailyKWh: 40},
		Carbon: region, CarbonIntensity: carbon.Medium,
		Events: []pricing.Event{{Name: "Flex day", Kind: pricing.CriticalPeak, Adder: 0.5, From: instant("2026-07-20T16:00:00Z"), To: instant("2026-07-20T18:00:00Z")}},
	}
	reasons := explain(t, in, window("2026-07-20T15:00:00Z", "2026-07-20T19:00:00Z"))
	got := reasons[4].String()
	for _, want := range []string{"weekday: Summer, tier 2 of 3, at 787 kWh of the month 0.1121", "rider fuel 0.01", "tax city tax 0.006105",
		"event Flex day 0.5", "export: credit import price 0.628205, kept charges on every kWh drawn -0.0105", "carbon 0.0"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %q", got, want)
		}
	}
	if strings.Contains(got, "old") || strings.Contains(reasons[0].String(), "Flex") {
		t.Errorf("%s\n%s", got, reasons[0])
	}
	if day := explain(t, in, window("2026-07-03T15:00:00Z", "2026-07-03T15:15:00Z"))[0].Day; day != "holiday" {
		t.Errorf("the 3rd of July is a %s", day)
	}
	if day := explain(t, in, window("2026-07-04T15:00:00Z", "2026-07-04T15:15:00Z"))[0].Day; day != "weekend" {
		t.Errorf("the 4th of July is a %s", day)
	}
}

func TestExplain_Market(t *testing.T) {
	in := pricing.Input{Tariff: passthrough().With("dgrules", "Wholesale").Parse(t), Location: time.UTC, Market: hourlyMarket(t)}
	reasons := explain(t, in, window("2026-06-30T22:00:00Z", "2026-07-01T03:00:00Z"))
	published, forecast := reasons[0].String(), reasons[len(reasons)-1].String()
	if want := "market HUB, DAY_AHEAD 0.22, market losses 0.011, rider adder to the market price 0.04; export: market HUB, DAY_AHEAD 0.22"; !strings.Contains(published, want) {
		t.Errorf("%s\nlacks %q", published, want)
	}
	if want := "forecast HUB, DAY_AHEAD, forecast 0.02"; !strings.Contains(forecast, want) || !strings.Contains(forecast, "the market's price is a forecast") {
		t.Errorf("%s\nlacks %q", forecast, want)
	}
}

func TestExplain_Exports(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	for name, tt := range map[string]struct {
		in   pricing.Input
		w    pricing.Window
		want string
	}{
		"sell rate": {pricing.Input{Tariff: selling("", 0.1, 0.2).Parse(t)}, window("2026-01-05T20:00:00Z", "2026-01-05T20:15:00Z"), "export: sell period 2 0.2"},
		"avoided cost": {pricing.Input{Tariff: flat(0.4).With("exportvalues", "PG&E NBT26").Parse(t)}, window("2026-01-05T20:00:00Z", "2026-01-05T20:15:00Z"),
			"export: avoided PG&E NBT26 generation"},
		"another year": {pricing.Input{Tariff: flat(0.4).With("exportvalues", "PG&E NBT26").Parse(t), Solar: &pricing.Solar{SizeKw: 6}}, window("2025-01-05T20:00:00Z", "2025-01-05T20:15:00Z"),
			"confidence 0.70: the export values belong to another year"},
		"source in doubt": {pricing.Input{Tariff: flat(0.4).With("confidence", 0.5).With("caveat", "hearsay").Parse(t)}, window("2025-01-05T20:00:00Z", "2025-01-05T20:15:00Z"),
			"confidence 0.50: hearsay"},
		"chance": {pricing.Input{Tariff: flat(0.4).Parse(t), Solar: &pricing.Solar{SizeKw: 6}, ExportChance: phoenixChance(t)}, window("2026-01-05T19:00:00Z", "2026-01-05T19:15:00Z"),
			"exports with probability 0.9"},
	} {
		tt.in.Location = location
		if got := explain(t, tt.in, tt.w)[0].String(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s\nlacks %q", name, got, tt.want)
		}
	}
}

func TestExplain_SameReasons(t *testing.T) {
	in := pricing.Input{Tariff: apsSaverChoicePlus().Parse(t), Location: time.UTC}
	reasons := explain(t, in, window("2026-07-01T14:00:00Z", "2026-07-01T16:00:00Z"))
	if !reasons[0].SameAs(reasons[3]) || reasons[3].SameAs(reasons[4]) || !reasons[4].SameAs(reasons[7]) {
		t.Error("runs of one reason are not distinguished")
	}
}

func TestExplain_Errors(t *testing.T) {
	w := window("2026-07-01T14:00:00Z", "2026-07-01T16:00:00Z")
	ended := flat(1).With("enddate", "2026-01-01").Parse(t)
	for _, in := range []pricing.Input{{}, {Tariff: ended}, {Tariff: ended, Location: time.UTC}, {Tariff: passthrough().Parse(t), Location: time.UTC}} {
		_, want := pricing.Price(in, w)
		reasons, got := pricing.Explain(in, w)
		if want == nil || got == nil || got.Error() != want.Error() || reasons != nil {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	in, w := benchInput(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pricing.Explain(in, w); err != nil {
			b.Fatal(err)
		}
	}
}
