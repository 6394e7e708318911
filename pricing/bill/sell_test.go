package bill_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/market"
)

// Exports earn the sell rate of the tier that the month has reached, as in the signal.
func TestMetering_SellRates(t *testing.T) {
	july := time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)
	points := make([]market.Point, 744)
	for i := range points {
		points[i] = market.Point{Start: july.Add(time.Duration(i) * time.Hour), Price: 0.08}
	}
	series, err := market.New(points, market.Options{Node: "X", Kind: market.DayAhead})
	if err != nil {
		t.Fatal(err)
	}
	tiers := []any{[]any{fields{"rate": 0.2, "sell": 0.05, "max": 100}, fields{"rate": 0.3, "sell": 0.15}}}
	flat := []any{[]any{fields{"rate": 0.05, "sell": 0.07}}}
	follows := fields{"node": "X", "market": "DAY_AHEAD"}
	for _, tt := range []struct {
		name     string
		tariff   fields
		metering bill.Metering
		want     float64
	}{
		{"net billing in tiers", fields{"energyratestructure": tiers}, bill.NetBilling, 49*0.05 + 323*0.15},
		{"feed-in in tiers", fields{"energyratestructure": tiers, "dgrules": "Buy All Sell All"}, bill.FeedIn, 49*0.05 + 323*0.15},
		{"net billing by a market", fields{"energyratestructure": flat, "market": follows}, bill.NetBilling, 372 * 0.07},
		{"feed-in by a market", fields{"energyratestructure": flat, "dgrules": "Buy All Sell All", "market": follows}, bill.FeedIn, 372 * 0.07},
	} {
		home := bill.Home{Location: time.UTC, Market: series, Solar: &bill.Solar{}}
		request := bill.Request{Load: slices.Repeat([]float64{2, -1}, 372), StepMinutes: 60, Start: "2026-07-01"}
		b, err := bill.ForHome(home, bill.Terms{Tariff: parse(t, tt.tariff)}, request)
		if err != nil || b.Metering != tt.metering || !near(b.Credit, tt.want) {
			t.Errorf("%s: %+v, %v; want a credit of $%v by %s", tt.name, b, err, tt.want, tt.metering)
		}
	}
}

// Solar outside of net metering earns the avoided costs, also on a plan with net metering.
func TestMetering_AvoidedCosts(t *testing.T) {
	r := hourly("2026-07-01", 31, func(hour int) float64 { return float64(1 - 2*(hour/12)) })
	of := func(rules string, request bill.Rules) float64 {
		r.Rules = request
		tariff := parse(t, fields{"energyratestructure": flatRate(0.3), "dgrules": rules, "exportvalues": "PG&E NBT26"})
		b, err := bill.ForHome(bill.Home{Location: time.UTC}, bill.Terms{Tariff: tariff}, r)
		if err != nil {
			t.Fatal(err)
		}
		return b.Credit
	}
	want := of("Net Billing Instantaneous", bill.Rules{})
	for _, rules := range []bill.Rules{{Metering: bill.NetBilling}, {NonNetMetered: true}} {
		if got := of("Net Metering", rules); !near(got, want) || got > 372*0.29 {
			t.Errorf("%+v: a credit of $%v, want $%v", rules, got, want)
		}
	}
}

// Only energy that the home pays for counts towards the tiers of sell rates: the drawn 50 kWh under
// net billing, and all 200 kWh under feed-in.
func TestMetering_SellTiers(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.2, "sell": 0.05, "max": 100}, fields{"rate": 0.2, "sell": 0.15}}}})
	m := hours(30, always(0), always(0))
	m.Load[0], m.Solar[0], m.Solar[1] = 200, 150, 10
	for metering, want := range map[bill.Metering]float64{bill.NetBilling: 150*0.2 + 10*0.05, bill.FeedIn: 150*0.05 + 10*0.15} {
		if b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{Metering: metering}}); !near(b.Credit, want) {
			t.Errorf("%s: a credit of $%v, want $%v", metering, b.Credit, want)
		}
	}
}
