package pricing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
)

// hourlyMarket is a month of prices from 2026-06-01, in $/MWh ten times the hour of the
// day.
func hourlyMarket(t testing.TB) *market.Series {
	t.Helper()
	var points []market.Point
	for i := range 30 * 24 {
		points = append(points, market.Point{Start: instant("2026-06-01T00:00:00Z").Add(time.Duration(i) * time.Hour), Price: 0.01 * float64(i%24)})
	}
	s, err := market.New(points, market.Options{Node: "HUB", Kind: market.DayAhead})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func passthrough() doc {
	return doc{"name": "Hourly", "market": map[string]any{"node": "HUB", "market": "DAY_AHEAD", "loss": 1.05, "adder": 0.04}}
}

func TestPassthrough_FollowsMarket(t *testing.T) {
	delivery := passthrough().With("energyratestructure", []any{tiers(0, 0.02)}).With("riders", []any{map[string]any{"rate": 0.01}, map[string]any{"rate": 10, "unit": "%"}})
	w := window("2026-06-15T00:00:00Z", "2026-06-16T00:00:00Z")
	for _, tt := range []struct {
		tariff  doc
		imports func(market float64) float64
	}{
		{passthrough(), func(m float64) float64 { return m*1.05 + 0.04 }},
		{delivery, func(m float64) float64 { return (0.02 + m*1.05 + 0.04 + 0.01) * 1.1 }},
	} {
		c := price(t, pricing.Input{Tariff: tt.tariff.Parse(t), Location: time.UTC, Market: hourlyMarket(t)}, w)
		for i, got := range c.Import {
			if want := tt.imports(0.01 * float64(i/4)); !sameRate(got, want) || c.Confidence[i] != 1 || c.Export[i] != 0 {
				t.Fatalf("interval %d: %v, want %v; export %v, confidence %v", i, got, want, c.Export[i], c.Confidence[i])
			}
		}
	}
	p, ok := delivery.Parse(t).Market()
	if !ok || p != (pricing.Passthrough{Node: "HUB", Kind: market.DayAhead, Loss: 1.05, Adder: 0.04}) {
		t.Errorf("got %+v", p)
	}
	if _, ok := flat(0.1).Parse(t).Market(); ok {
		t.Error("a flat rate follows a market")
	}
}

// After the end of the series there are forecasts, with less confidence.
func TestPassthrough_Forecasts(t *testing.T) {
	c := price(t, pricing.Input{Tariff: passthrough().Parse(t), Location: time.UTC, Market: hourlyMarket(t)},
		window("2026-06-30T23:00:00Z", "2026-07-03T23:00:00Z"))
	for i, got := range c.Import {
		want := 0.01*float64(c.Window.At(i).Hour())*1.05 + 0.04
		if !sameRate(got, want) {
			t.Fatalf("%v: %v, want %v", c.Window.At(i), got, want)
		}
		if i < 4 && c.Confidence[i] != 1 || i >= 4 && (c.Confidence[i] <= 0 || c.Confidence[i] > 0.5) {
			t.Fatalf("%v: confidence %v", c.Window.At(i), c.Confidence[i])
		}
	}
}

// The import source says when the market's prices have ended before the window.
func TestPassthrough_SourceNamesAge(t *testing.T) {
	for w, want := range map[pricing.Window]string{
		window("2026-06-30T23:00:00Z", "2026-07-01T23:00:00Z"): "Hourly",
		window("2026-07-01T00:00:00Z", "2026-07-01T23:00:00Z"): "Hourly, forecast: the prices of HUB end at 2026-07-01T00:00:00Z",
		window("2026-07-03T00:00:00Z", "2026-07-03T23:00:00Z"): "Hourly, forecast: the prices of HUB end at 2026-07-01T00:00:00Z",
	} {
		if c := price(t, pricing.Input{Tariff: passthrough().Parse(t), Location: time.UTC, Market: hourlyMarket(t)}, w); c.ImportSource != want {
			t.Errorf("%v: %q, want %q", w.Start, c.ImportSource, want)
		}
	}
	c := price(t, pricing.Input{Tariff: flat(0.1).Parse(t), Location: time.UTC, Market: hourlyMarket(t)}, window("2026-07-03T00:00:00Z", "2026-07-03T23:00:00Z"))
	if c.ImportSource != "Flat" {
		t.Errorf("a flat rate: %q", c.ImportSource)
	}
}

func TestPassthrough_Exports(t *testing.T) {
	noon := window("2026-06-15T12:00:00Z", "2026-06-15T12:15:00Z")
	notNet := &pricing.Solar{SizeKw: 5, NonNetMetered: true}
	for _, tt := range []struct {
		name   string
		in     pricing.Input
		want   pricing.CompensationType
		export float64
	}{
		{"bidding", pricing.Input{Tariff: flat(0.3).Parse(t), MarketBidding: true}, pricing.Wholesale, 0.12},
		{"bidding under net metering", pricing.Input{Tariff: flat(0.3).With("dgrules", "Net Metering").Parse(t), MarketBidding: true}, pricing.Wholesale, 0.12},
		{"wholesale rule", pricing.Input{Tariff: flat(0.3).With("dgrules", "Wholesale").Parse(t), Solar: notNet}, pricing.Wholesale, 0.12},
		{"net metered pass-through", pricing.Input{Tariff: passthrough().With("dgrules", "Net Metering").Parse(t)}, pricing.NetMetering, 0.166},
		{"pass-through without", pricing.Input{Tariff: passthrough().With("dgrules", "Net Metering").Parse(t), Solar: notNet}, pricing.NoExport, 0},
	} {
		tt.in.Location, tt.in.Market = time.UTC, hourlyMarket(t)
		c := price(t, tt.in, noon)
		if c.ExportCompensation.Type != tt.want || !sameRate(c.Export[0], tt.export) {
			t.Errorf("%s: %s, %v", tt.name, c.ExportCompensation.Type, c.Export[0])
		}
	}
	// Without a series of its own a home is paid by its tariff.
	c := price(t, pricing.Input{Tariff: flat(0.3).With("dgrules", "Wholesale").Parse(t), Location: time.UTC, MarketBidding: true}, noon)
	if c.ExportCompensation.Type != pricing.NoExport {
		t.Errorf("got %+v", c.ExportCompensation)
	}
}

func TestPassthrough_NoMarket(t *testing.T) {
	for name, tt := range map[string]struct {
		market *market.Series
		w      pricing.Window
		at     string
	}{
		"none":             {nil, window("2026-06-15T00:00:00Z", "2026-06-16T00:00:00Z"), "2026-06-15T00:00:00Z"},
		"before the start": {hourlyMarket(t), window("2026-05-31T23:00:00Z", "2026-06-01T02:00:00Z"), "2026-05-31T23:00:00Z"},
		"too far ahead":    {hourlyMarket(t), window("2026-08-14T23:00:00Z", "2026-08-16T00:00:00Z"), "2026-08-15T00:15:00Z"},
	} {
		_, err := pricing.Price(pricing.Input{Tariff: passthrough().Parse(t), Location: time.UTC, Market: tt.market}, tt.w)
		var missing *pricing.NoMarketError
		if !errors.As(err, &missing) || missing.Node != "HUB" || missing.Kind != market.DayAhead || !missing.At.Equal(instant(tt.at)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
