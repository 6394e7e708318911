package pricing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
)

// phoenixChance is the chance of a home with 6 kW near Phoenix.
func phoenixChance(t testing.TB) *solar.Chance {
	t.Helper()
	p, err := solar.NewProfile(climate.Choose(climate.Place{Lat: 33.4, Lon: -112}).Year, solar.DefaultArray)
	if err != nil {
		t.Fatal(err)
	}
	c, err := solar.NewChance(p, solar.Home{SizeKW: 6, Lat: 33.4, Lon: -112, Location: zone(t, "America/Phoenix")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExpectedPrice_WeighsImportAndExport(t *testing.T) {
	phoenix, chance := zone(t, "America/Phoenix"), phoenixChance(t)
	w := localDay(phoenix, 2026, time.April, 15)
	for _, tt := range []struct {
		name     string
		tariff   doc
		solar    *pricing.Solar
		weighted bool
	}{
		{"net billing", flat(0.3).With("energyratestructure", []any{[]any{map[string]any{"rate": 0.3, "sell": 0.1}}}), &pricing.Solar{SizeKw: 6}, true},
		{"not paid", flat(0.3), &pricing.Solar{SizeKw: 6}, true},
		{"net metering", flat(0.3).With("dgrules", "Net Metering"), &pricing.Solar{SizeKw: 6}, true},
		{"feed-in", selling("Buy All Sell All", 0.1, 0.1), &pricing.Solar{SizeKw: 6}, false},
		{"no solar", flat(0.3), nil, false},
	} {
		c := price(t, pricing.Input{Tariff: tt.tariff.Parse(t), Location: phoenix, Solar: tt.solar, ExportChance: chance}, w)
		for i := range c.Len() {
			p := chance.At(w.At(i).Unix())
			want := p*c.Export[i] + (1-p)*c.Import[i]
			if !tt.weighted {
				want = c.Import[i]
			}
			if !sameRate(c.Price[i], want) {
				t.Fatalf("%s at %v: price %v, want %v", tt.name, w.At(i), c.Price[i], want)
			}
		}
		if noon := c.Price[48]; tt.name == "not paid" && noon > 0.03 || c.Price[0] != c.Import[0] {
			t.Errorf("%s: %v at noon, %v at midnight", tt.name, noon, c.Price[0])
		}
	}
}

func TestPrice_CarbonAdder(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	region, _ := carbon.Of("CA", "")
	w := localDay(location, 2026, time.March, 8) // the clocks change
	for intensity, perTonne := range map[carbon.Intensity]float64{carbon.Low: 0, carbon.Medium: 51, carbon.High: 190, "": 0} {
		c := price(t, pricing.Input{Tariff: flat(0.3).Parse(t), Location: location, Carbon: region, CarbonIntensity: intensity}, w)
		for i, got := range c.Price {
			want := 0.3 + region.Rate(time.March, w.At(i).In(location).Hour())*0.00045359237*perTonne
			if !sameRate(got, want) || c.Import[i] != 0.3 {
				t.Fatalf("%s at %v: price %v, want %v; import %v", intensity, w.At(i), got, want, c.Import[i])
			}
		}
	}
}

// The regime of the home settles its exports if the facts name one. Elsewhere the plan's own
// rule does, with less confidence wherever another regime would change the price.
func TestRegime_SettlesExports(t *testing.T) {
	phoenix, chance := zone(t, "America/Phoenix"), phoenixChance(t)
	w := localDay(phoenix, 2026, time.April, 15)
	metered := pricing.Regime{Name: "NEM", Metering: pricing.NetMetering, Source: "Order 1", Ends: pricing.Date{Year: 2026, Month: time.April, Day: 15}}
	over := metered
	over.Ends.Day = 14
	billed := pricing.Regime{Name: "NBT", Metering: pricing.NetBilling, Source: "Order 2"}
	neither := pricing.Regime{Name: "Supply alone", Source: "Order 3"}
	for _, tt := range []struct {
		name   string
		tariff doc
		solar  pricing.Solar
		want   pricing.CompensationType
		export float64
		noon   float64 // confidence
		words  string
	}{
		{"metered, plan bills", selling("", 0.1, 0.1), pricing.Solar{Regime: metered}, pricing.NetMetering, 0.30134, 1, "NEM (Order 1)"},
		{"metered, plan is silent", selling("", nil, nil), pricing.Solar{Regime: metered}, pricing.NetMetering, 0.30134, 1, "Order 1"},
		{"metered until yesterday", selling("", 0.1, 0.1), pricing.Solar{Regime: over}, pricing.NetBilling, 0.1, 0.3, "unknown"},
		{"billed, plan meters", selling("Net Metering", 0.1, 0.1), pricing.Solar{Regime: billed}, pricing.NetBilling, 0.1, 1, "NBT (Order 2)"},
		{"the home's own setting wins", selling("Net Metering", 0.1, 0.1), pricing.Solar{Regime: metered, NonNetMetered: true}, pricing.NetBilling, 0.1, 1, ""},
		{"feed-in is the plan's choice", selling("Feed-in", 0.1, 0.1), pricing.Solar{Regime: metered}, pricing.FeedIn, 0.1, 1, ""},
		{"unknown, plan meters", selling("Net Metering", nil, nil), pricing.Solar{}, pricing.NetMetering, 0.30134, 1, "unknown"},
		{"unknown, plan bills", selling("", 0.1, 0.1), pricing.Solar{Regime: pricing.UnknownRegime()}, pricing.NetBilling, 0.1, 0.3, "unknown"},
		{"unknown, plan bills near retail", selling("", 0.3, 0.3), pricing.Solar{}, pricing.NetBilling, 0.3, 1, "unknown"},
		{"unknown, plan is silent", selling("", nil, nil), pricing.Solar{}, pricing.NoExport, 0, 0.3, "unknown"},
		{"neither, plan meters", selling("Net Metering", nil, nil), pricing.Solar{Regime: neither}, pricing.NetMetering, 0.30134, 0.3, "neither"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.solar.SizeKw = 6
			in := pricing.Input{Tariff: tt.tariff.Parse(t), Location: phoenix, Solar: &tt.solar, ExportChance: chance}
			c := price(t, in, w)
			const noon = 47
			if got := c.ExportCompensation; got.Type != tt.want || c.Export[noon] != tt.export || !strings.Contains(got.Description, tt.words) {
				t.Errorf("got %+v at %v, want %s at %v", got, c.Export[noon], tt.want, tt.export)
			}
			if c.Confidence[noon] != tt.noon || c.Confidence[0] != 1 {
				t.Errorf("confidence %v at noon, %v at midnight; want %v, 1", c.Confidence[noon], c.Confidence[0], tt.noon)
			}
			in.Solar = nil
			if alone := price(t, in, w); alone.Confidence[noon] != 1 {
				t.Errorf("without solar the confidence is %v", alone.Confidence[noon])
			}
		})
	}
}

// The market pays for the exports of a home that bids, whatever its regime. Under the plan's
// rule Wholesale another regime would change the price.
func TestRegime_UnderMarketPrices(t *testing.T) {
	phoenix, chance := zone(t, "America/Phoenix"), phoenixChance(t)
	w := localDay(phoenix, 2026, time.June, 15)
	for _, regime := range []pricing.Regime{pricing.UnknownRegime(), {Name: "Supply alone", Source: "Order 3"}} {
		for bids, want := range map[bool]float64{true: 1, false: 0.3} {
			in := pricing.Input{
				Tariff: selling("Wholesale", nil, nil).Parse(t), Location: phoenix, Solar: &pricing.Solar{SizeKw: 6, Regime: regime}, ExportChance: chance,
				Market: hourlyMarket(t), MarketBidding: bids,
			}
			c := price(t, in, w)
			const noon = 47
			if got := c.ExportCompensation; got.Type != pricing.Wholesale || strings.Contains(got.Description, "regime") == bids || c.Confidence[noon] != want {
				t.Errorf("%s, bids %v: %+v with confidence %v, want %v", regime.Name, bids, got, c.Confidence[noon], want)
			}
		}
	}
}

// A doubt in exports is weighed against the expected price, which includes carbon. Another
// regime would move the price of noon by 13 % without carbon, and by 9 % with it.
func TestRegime_WeighedWithCarbon(t *testing.T) {
	phoenix := zone(t, "America/Phoenix")
	w := localDay(phoenix, 2026, time.April, 15)
	region, _ := carbon.Of("AZ", "")
	published, err := market.New([]market.Point{{Start: w.At(44), Price: 0.5}}, market.Options{Kind: market.Emissions, Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for intensity, want := range map[carbon.Intensity]float64{carbon.Low: 0.3, carbon.High: 1} {
		in := pricing.Input{
			Tariff: selling("", 0.265, 0.265).Parse(t), Location: phoenix, Solar: &pricing.Solar{SizeKw: 6}, ExportChance: phoenixChance(t),
			Carbon: region, CarbonIntensity: intensity, Emissions: published,
		}
		const noon = 47
		if c := price(t, in, w); c.Confidence[noon] != want {
			t.Errorf("%s: price %v, import %v, export %v: confidence %v, want %v", intensity, c.Price[noon], c.Import[noon], c.Export[noon], c.Confidence[noon], want)
		}
	}
}

// A home under either of two net-metering regimes has the lower credit. The confidence is
// lower where the difference changes the price.
func TestRegime_MayCreditAll(t *testing.T) {
	phoenix, chance := zone(t, "America/Phoenix"), phoenixChance(t)
	regime := pricing.Regime{Name: "NEM 1 or NEM 2", Metering: pricing.NetMetering, Source: "Order 1 or Order 2", MayCreditAll: true}
	for charges, noon := range map[float64]float64{0.01: 1, 0.06: 0.5} {
		in := pricing.Input{
			Tariff: selling("", nil, nil).With("nonbypassable", charges).Parse(t), Location: phoenix, Solar: &pricing.Solar{SizeKw: 6, Regime: regime}, ExportChance: chance,
		}
		w := localDay(phoenix, 2026, time.April, 15)
		c := price(t, in, w)
		if !sameRate(c.Export[47], 0.30134-charges) || c.Confidence[47] != noon || c.Confidence[0] != 1 || !strings.Contains(c.ExportCompensation.Description, "NEM 1 or NEM 2 (Order 1 or Order 2). Only the first") {
			t.Errorf("charges of %v: export %v with confidence %v (%v at midnight), %q", charges, c.Export[47], c.Confidence[47], c.Confidence[0], c.ExportCompensation.Description)
		}
		reasons, err := pricing.Explain(in, w)
		if err != nil || strings.Contains(reasons[47].Doubt, "NEM 1 or NEM 2") != (noon < 1) {
			t.Errorf("charges of %v: %q, %v", charges, reasons[47].Doubt, err)
		}
	}
}
