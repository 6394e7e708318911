package bill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/market"
)

// biddingHome returns a home that sells to a market at 0.03 $/kWh on the first of July.
func biddingHome(t *testing.T) bill.Home {
	t.Helper()
	start := time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)
	var points []market.Point
	for hour := range 24 {
		points = append(points, market.Point{Start: start.Add(time.Duration(hour) * time.Hour), Price: 0.03})
	}
	hub, err := market.New(points, market.Options{Node: "HUB", Kind: market.RealTime, Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return bill.Home{Location: time.UTC, Bids: true, Market: hub, Solar: &bill.Solar{Solar: pricing.Solar{SizeKw: 20}}}
}

// The market pays for the exports of a home that bids, whatever the rules of its plan. The
// metering of a request has priority. A typical year has no market prices.
func TestForHome_Bids(t *testing.T) {
	load := slices.Concat(slices.Repeat([]float64{25}, 20), slices.Repeat([]float64{-25}, 4))
	metered := bill.Request{Load: load, StepMinutes: 60, Start: "2026-07-01"}
	netMetered, typical := metered, bill.Request{Load: append(make([]float64, 8736), load...), StepMinutes: 60}
	netMetered.Metering = bill.NetMetering
	rate := fields{"dgrules": "Net Metering", "energyratestructure": []any{[]any{fields{"rate": 0.3}}}}
	for _, tt := range []struct {
		name     string
		request  bill.Request
		bids     bool
		credit   float64
		metering bill.Metering
		caveat   string
	}{
		{"a metered day", metered, true, 100 * 0.03, bill.NetBilling, ""},
		{"a home that does not bid", metered, false, 100 * 0.3, bill.NetMetering, ""},
		{"net metering of the request", netMetered, true, 100 * 0.3, bill.NetMetering, ""},
		{"a typical year", typical, true, 100 * 0.3, bill.NetMetering, "the home bids on a market"},
	} {
		h := biddingHome(t)
		if h.Bids = tt.bids; !tt.bids {
			h.Market = nil
		}
		b, err := bill.ForHome(h, bill.Terms{Tariff: parse(t, rate)}, tt.request)
		if err != nil || !same(b.Credit, tt.credit) || !same(b.Energy, 500*0.3) || b.Metering != tt.metering {
			t.Errorf("%s: %+v, %v; want a credit of $ %v", tt.name, b, err, tt.credit)
			continue
		}
		if all := strings.Join(b.Caveats, ";"); !strings.Contains(all, tt.caveat) || tt.caveat == "" && all != "" {
			t.Errorf("%s: caveats %q, want %q", tt.name, all, tt.caveat)
		}
	}
}

// The market pays for an exported kWh once, whatever other parts of the plan would pay. The
// metering of a request has priority.
func TestComposed_Bids(t *testing.T) {
	parts := []pricing.PricedPart{
		part(t, "delivery", pricing.RoleDelivery, oneRate(0.2)),
		part(t, "cca", pricing.RoleGeneration, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.08}}}}),
		part(t, "tax", pricing.RoleAdjustment, oneRate(0, fields{"name": "tax", "rate": 10, "unit": "%"})),
	}
	load := slices.Concat(slices.Repeat([]float64{25}, 20), slices.Repeat([]float64{-25}, 4))
	for metering, want := range map[bill.Metering]float64{"": 100 * 0.03, bill.NetBilling: 100 * 0.08} {
		request := bill.Request{Load: load, StepMinutes: 60, Start: "2026-07-01", Rules: bill.Rules{Metering: metering}}
		if b := composedBill(t, parts, biddingHome(t), request); !same(b.Credit, want) || !same(b.Energy, 500*0.3*1.1) {
			t.Errorf("metering %q of the request: credit $ %v, energy $ %v; want %v and 165: %+v", metering, b.Credit, b.Energy, want, b.Parts)
		}
	}
}
