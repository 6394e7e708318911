package bill_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
)

// drawPart returns a part with any export rule, and sometimes an event.
func drawPart(t *rapid.T, outer *testing.T, id string, role pricing.PlanRole, start time.Time, earlier ...string) pricing.PricedPart {
	cents := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-20, 40).Draw(t, "cents")) / 100 })
	percent := float64(rapid.IntRange(-4, 4).Draw(t, "percent")) * 10
	rider := fields{"name": "public purpose", "rate": cents.Draw(t, "rider"), "credited": rapid.Bool().Draw(t, "credited")}
	tariff := oneRate(cents.Draw(t, "rate"), rider, fields{"name": "tax", "rate": percent, "unit": "%"})
	if role != pricing.RoleAdjustment {
		tariff["energyratestructure"].([]any)[0].([]any)[0].(fields)["sell"] = rapid.SampledFrom([]float64{0, 0.04}).Draw(t, "sell")
		tariff["dgrules"] = rapid.SampledFrom([]string{"", "Net Metering", "Net Billing Instantaneous", "Buy All Sell All"}).Draw(t, "rule")
	}
	var applies []string
	for _, other := range earlier {
		if rapid.Bool().Draw(t, "applies") {
			applies = append(applies, other)
		}
	}
	p := part(outer, id, role, tariff, applies...)
	if rapid.Bool().Draw(t, "has an event") {
		e := pricing.Event{Name: "peak", Kind: pricing.CriticalPeak, From: start.Add(16 * time.Hour), To: start.Add(21 * time.Hour), Adder: cents.Draw(t, "adder")}
		if rapid.Bool().Draw(t, "replaces the price") {
			e.Price = new(cents.Draw(t, "price"))
		}
		p.Events = []pricing.Event{e}
	}
	return p
}

// The energy of a bill is that of the price signal: each kWh drawn costs the import price
// and each kWh sent earns the export price, whatever the parts' rules and events are. Under
// feed-in the used and the generated energy count.
func TestComposed_EqualsSignal(t *testing.T) {
	start := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		parts := []pricing.PricedPart{
			drawPart(rt, t, "delivery", pricing.RoleDelivery, start), drawPart(rt, t, "cca", pricing.RoleGeneration, start),
			drawPart(rt, t, "care", pricing.RoleAdjustment, start, "delivery", "cca"),
			drawPart(rt, t, "tax", pricing.RoleAdjustment, start, "delivery", "cca", "care"),
		}
		kwh := rapid.SliceOfN(rapid.Float64Range(0, 1), 96, 96)
		load, generated := kwh.Draw(rt, "load"), kwh.Draw(rt, "generated")
		h := bill.Home{Location: time.UTC, Solar: &bill.Solar{}}
		r := bill.Request{Load: load, Generated: generated, StepMinutes: 15, Start: "2026-06-01", Rules: bill.Rules{SurplusRetail: true}}
		b := composedBill(t, parts, h, r)
		curve, err := pricing.Price(pricing.Input{Tariff: parts[0].Tariff, Parts: parts, Location: time.UTC, Solar: &pricing.Solar{}},
			pricing.Window{Start: start, End: start.Add(24 * time.Hour)})
		if err != nil {
			rt.Fatal(err)
		}
		want := 0.0
		for i, use := range load {
			drawn, sent := max(use-generated[i], 0), max(generated[i]-use, 0)
			if b.Metering == bill.FeedIn {
				drawn, sent = use, generated[i]
			}
			want += drawn*curve.Import[i] - sent*curve.Export[i]
		}
		if math.Abs(b.Total-want) > 0.001 {
			rt.Errorf("the bill is $ %.4f by %s, the signal %.4f by %s: %+v", b.Total, b.Metering, want, curve.ExportCompensation.Type, b.Parts)
		}
	})
}
