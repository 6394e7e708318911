package pricing_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/urdb"
)

func part(id string, role pricing.PlanRole, tariff *pricing.Tariff, appliesTo ...string) pricing.PricedPart {
	return pricing.PricedPart{PlanPart: pricing.PlanPart{PlanID: id, Role: role, AppliesTo: appliesTo}, Tariff: tariff}
}

// composed returns the inputs of a composed plan.
func composed(location *time.Location, parts ...pricing.PricedPart) pricing.Input {
	return pricing.Input{Tariff: parts[pricing.Lead(parts)].Tariff, Location: location, Parts: parts}
}

// percent returns a plan with a rate and a percentage.
func percent(t testing.TB, rate, share float64) *pricing.Tariff {
	t.Helper()
	return flat(rate).With("riders", []any{map[string]any{"name": "percentage", "rate": share, "unit": "%"}}).Parse(t)
}

func eElec(t testing.TB) *pricing.Tariff {
	t.Helper()
	plan, _ := catalog.ByID("pge-e-elec")
	tariff, err := urdb.Parse(plan.URDB)
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

// The import price of a home with a community choice aggregator is the sum of its parts in
// every interval of a year, and each part has the price that it has alone.
func TestParts_SumInEveryIntervalOfAYear(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	cca := doc{
		"name": "CCA generation", "holidays": false, "energyratestructure": []any{tiers(0, 0.09), tiers(0, 0.14), tiers(0, 0.21)},
		"energyweekdayschedule": year("0x16 1x5 0x3", "0x16 2x5 0x3"), "energyweekendschedule": year("0x24", "1x24"),
	}.Parse(t)
	parts := []pricing.PricedPart{
		part("delivery", pricing.RoleDelivery, eElec(t)),
		part("utility-generation", pricing.RoleGeneration, flat(-0.15).Parse(t)),
		part("cca", pricing.RoleGeneration, cca),
		part("pcia", pricing.RoleAdjustment, flat(0.0123).Parse(t)),
		part("care", pricing.RoleAdjustment, percent(t, 0, -35), "delivery", "cca"),
		part("city-tax", pricing.RoleAdjustment, percent(t, 0, 7.5)),
	}
	w := pricing.Window{Start: localDay(location, 2026, time.March, 1).Start, End: localDay(location, 2027, time.March, 1).Start}
	got := price(t, composed(location, parts...), w)
	alone := make([]*pricing.Curve, 4)
	for i := range alone {
		alone[i] = price(t, pricing.Input{Tariff: parts[i].Tariff, Location: location}, w)
	}
	for i := range got.Len() {
		delivery, utility, generation, pcia := alone[0].Import[i], alone[1].Import[i], alone[2].Import[i], alone[3].Import[i]
		care := -0.35 * (delivery + generation)
		want := (delivery + utility + generation + pcia + care) * 1.075
		if math.Abs(got.Import[i]-want) > 2e-6 || got.Confidence[i] != alone[0].Confidence[i] {
			t.Fatalf("at %v: %v, want %v; confidence %v", w.At(i), got.Import[i], want, got.Confidence[i])
		}
	}
	if got.Len() != 35040 || !strings.HasPrefix(got.ImportSource, alone[0].ImportSource+" + Flat + CCA generation + ") {
		t.Errorf("%d intervals from %q", got.Len(), got.ImportSource)
	}
}

// drawParts draws the parts of a composed plan. shares are the percentages of its adjustments.
func drawParts(t *rapid.T, rules string) (parts []pricing.PricedPart, shares []float64) {
	roles := []pricing.PlanRole{pricing.RoleDelivery, pricing.RoleGeneration, pricing.RoleAdjustment}
	for i := range rapid.IntRange(2, 8).Draw(t, "parts") {
		id, role := string(rune('a'+i)), pricing.RoleDelivery
		if i > 0 {
			role = rapid.SampledFrom(roles).Draw(t, "role")
		}
		if role != pricing.RoleAdjustment {
			parts, shares = append(parts, part(id, role, drawTariff(t, rules))), append(shares, 0)
			continue
		}
		share := rapid.Float64Range(-50, 50).Draw(t, "share")
		d := flat(rapid.Float64Range(-0.1, 0.1).Draw(t, "own rate")).With("riders", []any{map[string]any{"name": "share", "rate": share, "unit": "%"}})
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		tariff, err := urdb.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p := part(id, role, tariff)
		if on := rapid.IntRange(-1, i-1).Draw(t, "applies to"); on >= 0 {
			p.AppliesTo = []string{parts[on].PlanID}
		}
		parts, shares = append(parts, p), append(shares, share/100)
	}
	return parts, shares
}

// A composed price is the sum of the parts' prices alone, and each adjustment adds its
// percentage of the parts that it applies to. The sections of the explanation add up to
// their subtotals, and the subtotals to the prices.
func TestParts_PriceAndExplanation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SampledFrom([]string{"Net Metering", "Net Billing Hourly", ""}).Draw(t, "rules")
		in := drawInput(t, nil, rules)
		parts, shares := drawParts(t, rules)
		in.Tariff, in.Parts, parts[0].Events, in.Events = parts[0].Tariff, parts, in.Events, nil
		w := drawWindow(t)
		got, err := pricing.Price(in, w)
		if err != nil {
			t.Fatal(err)
		}
		reasons, err := pricing.Explain(in, w)
		if err != nil {
			t.Fatal(err)
		}
		alone := make([]*pricing.Curve, len(parts))
		for k, p := range parts {
			if alone[k], err = pricing.Price(pricing.Input{Tariff: p.Tariff, Location: in.Location, Usage: in.Usage, Events: p.Events, Solar: in.Solar}, w); err != nil {
				t.Fatal(err)
			}
		}
		for i := range got.Len() {
			imports, exports := 0.0, 0.0
			eachImport, eachExport := make([]float64, len(parts)), make([]float64, len(parts))
			for k, p := range parts {
				eachImport[k], eachExport[k] = alone[k].Import[i], alone[k].Export[i]
				if p.Role == pricing.RoleAdjustment {
					eachExport[k] = 0
					if got.ExportCompensation.Type == pricing.NetMetering {
						eachExport[k] = alone[k].Import[i]
					}
					for j := range k {
						if len(p.AppliesTo) > 0 && p.AppliesTo[0] != parts[j].PlanID {
							continue
						}
						eachImport[k] += shares[k] * eachImport[j]
						if got.ExportCompensation.Type == pricing.NetMetering {
							eachExport[k] += shares[k] * eachExport[j]
						}
					}
				}
				imports, exports = imports+eachImport[k], exports+eachExport[k]
			}
			if math.Abs(got.Import[i]-imports) > 2e-5 || math.Abs(got.Export[i]-exports) > 2e-5 {
				t.Fatalf("%s at %v: import %v, want %v; export %v, want %v", got.ExportCompensation.Type, w.At(i), got.Import[i], imports, got.Export[i], exports)
			}
			checkSections(t, &reasons[i], got, i)
		}
	})
}

func checkSections(t *rapid.T, r *pricing.Reason, c *pricing.Curve, i int) {
	if !addsUp(r.Import, c.Import[i]) || !addsUp(r.Export, c.Export[i]) || r.Price != c.Price[i] || r.Confidence != c.Confidence[i] {
		t.Fatalf("%+v does not explain import %v, export %v", r, c.Import[i], c.Export[i])
	}
	for _, p := range r.Parts {
		if !addsUp(p.Import, p.Rate) || !addsUp(p.Export, p.ExportRate) {
			t.Fatalf("the section does not add up: %+v", p)
		}
	}
}

func TestParts_Adjustments(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	w := window("2026-07-01T10:00:00Z", "2026-07-01T11:00:00Z")
	delivery := func() pricing.PricedPart { return part("delivery", pricing.RoleDelivery, flat(0.2).Parse(t)) }
	generation := func() pricing.PricedPart { return part("generation", pricing.RoleGeneration, flat(0.12).Parse(t)) }
	peak := delivery()
	peak.Events = []pricing.Event{{Name: "peak", Kind: pricing.CriticalPeak, From: w.Start, To: w.End, Adder: 0.6}}
	dear := part("care", pricing.RoleAdjustment, percent(t, 0.01, -35))
	dear.Events = []pricing.Event{{Name: "peak", Kind: pricing.CriticalPeak, From: w.Start, To: w.End, Price: new(0.05)}}
	for _, tt := range []struct {
		name  string
		parts []pricing.PricedPart
		want  float64
	}{
		{"delivery and generation", []pricing.PricedPart{delivery(), generation()}, 0.32},
		{"generation first", []pricing.PricedPart{generation(), delivery()}, 0.32},
		{"CARE, 35 % off everything", []pricing.PricedPart{delivery(), generation(), part("care", pricing.RoleAdjustment, percent(t, 0, -35))}, 0.208},
		{"CARE on the delivery alone", []pricing.PricedPart{delivery(), generation(), part("care", pricing.RoleAdjustment, percent(t, 0, -35), "delivery")}, 0.25},
		{"a credit of $/kWh", []pricing.PricedPart{delivery(), generation(), part("medical", pricing.RoleAdjustment, flat(-0.03).Parse(t))}, 0.29},
		{"a tax after a discount", []pricing.PricedPart{
			delivery(), generation(), part("care", pricing.RoleAdjustment, percent(t, 0, -35)), part("tax", pricing.RoleAdjustment, percent(t, 0, 10)),
		}, 0.2288},
		{"a tax on the discount alone", []pricing.PricedPart{
			delivery(), generation(), part("care", pricing.RoleAdjustment, percent(t, 0, -35)), part("tax", pricing.RoleAdjustment, percent(t, 0, 10), "care"),
		}, 0.1968},
		{"own rate and percentage", []pricing.PricedPart{delivery(), part("tax", pricing.RoleAdjustment, percent(t, 0.01, 10), "delivery"), generation()}, 0.351},
		{"a part's event", []pricing.PricedPart{peak, generation(), part("care", pricing.RoleAdjustment, percent(t, 0, -35))}, 0.598},
		{"a price of an adjustment's event, beside its percentages", []pricing.PricedPart{delivery(), generation(), dear}, 0.32*0.65 + 0.05},
	} {
		if got := price(t, composed(location, tt.parts...), w).Import[0]; !sameRate(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The utility credits the delivery of an exported kWh and the aggregator the generation.
func TestParts_Exports(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	w := window("2026-09-02T01:00:00Z", "2026-09-02T02:00:00Z") // 18:00
	values, _ := netbilling.Named("PG&E NBT26")
	value := values.At(2026, time.September, false, 18)
	silent, selling := flat(0.2).Parse(t), flat(0.1).With("energyratestructure", []any{[]any{map[string]any{"rate": 0.1, "sell": 0.05}}}).Parse(t)
	paying := func(c netbilling.Component) *pricing.Tariff { return silent.WithExportValues(values).Paying(c) }
	crediting := flat(0.12).With("dgrules", "Net Metering").Parse(t)
	feedIn := flat(0.2).With("dgrules", "Buy All Sell All").With("energyratestructure", []any{[]any{map[string]any{"rate": 0.2, "sell": 0.07}}}).Parse(t)
	metered := &pricing.Solar{Regime: pricing.Regime{Name: "NEM", Metering: pricing.NetMetering, Source: "Order 1"}}
	care := part("care", pricing.RoleAdjustment, percent(t, 0, -50))
	for _, tt := range []struct {
		name                 string
		delivery, generation *pricing.Tariff
		solar                *pricing.Solar
		want                 float64
		kind                 pricing.CompensationType
	}{
		{"avoided costs of both", paying(netbilling.Delivery), paying(netbilling.Generation), nil, value.Total(), pricing.NetBilling},
		{"avoided cost of delivery, own sell rate", paying(netbilling.Delivery), selling, nil, value.Delivery + 0.05, pricing.NetBilling},
		{"generation pays alone", silent, selling, nil, 0.05, pricing.NetBilling},
		{"nobody pays", silent, silent, nil, 0, pricing.NoExport},
		{"net metering, after the discount", silent, selling, metered, 0.15, pricing.NetMetering},
		{"net metering of the generation alone, after the discount", selling, crediting, nil, 0.05 + 0.06, pricing.NetBilling},
		{"feed-in, which leaves nothing to net", feedIn, crediting, nil, 0.07, pricing.FeedIn},
	} {
		in := composed(location, part("delivery", pricing.RoleDelivery, tt.delivery), part("generation", pricing.RoleGeneration, tt.generation), care)
		in.Solar = tt.solar
		if c := price(t, in, w); !sameRate(c.Export[0], tt.want) || c.ExportCompensation.Type != tt.kind {
			t.Errorf("%s: %v (%s), want %v (%s)", tt.name, c.Export[0], c.ExportCompensation.Type, tt.want, tt.kind)
		}
		for _, r := range explain(t, in, w) {
			for _, p := range r.Parts {
				if !addsUp(p.Import, p.Rate) || !addsUp(p.Export, p.ExportRate) {
					t.Errorf("%s: the section does not add up: %+v", tt.name, p)
				}
			}
		}
	}
	in := composed(location, part("delivery", pricing.RoleDelivery, silent), part("generation", pricing.RoleGeneration, selling), care)
	in.Market, in.MarketBidding = hourlyMarket(t), true
	w = window("2026-06-15T05:00:00Z", "2026-06-15T06:00:00Z")
	if c := price(t, in, w); c.ExportCompensation.Type != pricing.Wholesale || !sameRate(c.Export[0], 0.05) || !sameRate(c.Import[0], 0.15) {
		t.Errorf("a home that bids: %v of %v, import %v", c.Export[0], c.ExportCompensation, c.Import[0])
	}
}

func TestParts_ExplanationInOneLine(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	in := composed(location, part("delivery", pricing.RoleDelivery, flat(0.2).Parse(t)), part("generation", pricing.RoleGeneration, flat(0.1).Parse(t)),
		part("care", pricing.RoleAdjustment, percent(t, 0, -35)))
	reasons, err := pricing.Explain(in, window("2026-07-01T10:00:00Z", "2026-07-01T10:15:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "delivery 0.2 (period 1 0.2) + generation 0.1 (period 1 0.1) + care -0.105 (period 1 0, tax percentage -0.105)"
	if got := reasons[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
