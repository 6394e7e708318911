package bill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
)

// The bill of a day of 1 kWh an hour at 0.20 $/kWh, with an event from 16:00 to 21:00.
func TestForHome_Events(t *testing.T) {
	at := time.Date(2026, time.July, 2, 16, 0, 0, 0, time.UTC)
	event := func(kind pricing.EventKind, days int, adder float64, price *float64) pricing.Event {
		from := at.AddDate(0, 0, days)
		return pricing.Event{Name: "heat", Kind: kind, From: from, To: from.Add(5 * time.Hour), Adder: adder, Price: price}
	}
	tiered := fields{"energyratestructure": []any{[]any{fields{"rate": 0.2, "max": 3100}, fields{"rate": 0.5}}}}
	for _, tt := range []struct {
		name   string
		tariff fields
		event  pricing.Event
		want   float64
		caveat string
	}{
		{"an adder", oneRate(0.2), event(pricing.CriticalPeak, 0, 0.6, nil), 4.8 + 3, ""},
		{"a price", oneRate(0.2), event(pricing.CriticalPeak, 0, 0, new(1.0)), 4.8 + 4, ""},
		{"a price in tiers", tiered, event(pricing.CriticalPeak, 0, 0, new(1.0)), 4.8 + 4, "first tier"},
		{"an adder in tiers", tiered, event(pricing.CriticalPeak, 0, 0.6, nil), 4.8 + 3, ""},
		{"a rebate", oneRate(0.2), event(pricing.PeakRebate, 0, 1.25, nil), 4.8, "rebates"},
		{"an alert", oneRate(0.2), event(pricing.FlexAlert, 0, 0, nil), 4.8, ""},
		{"a rebate of the day before", oneRate(0.2), event(pricing.PeakRebate, -1, 1.25, nil), 4.8, ""},
		{"a rebate of the day after", oneRate(0.2), event(pricing.PeakRebate, 1, 1.25, nil), 4.8, ""},
	} {
		home := bill.Home{Location: time.UTC, Events: []pricing.Event{tt.event}}
		request := bill.Request{Load: slices.Repeat([]float64{1}, 24), StepMinutes: 60, Start: "2026-07-02"}
		b, err := bill.ForHome(home, bill.Terms{Tariff: parse(t, tt.tariff)}, request)
		if err != nil || !same(b.Energy, tt.want) || !strings.Contains(strings.Join(b.Caveats, ";"), tt.caveat) || (tt.caveat == "") != (len(b.Caveats) == 0) {
			t.Errorf("%s: %+v, %v; want $%v, caveat %q", tt.name, b, err, tt.want, tt.caveat)
		}
	}
}

// Under net metering an exported kWh earns the price of the event, whatever its credit becomes
// in the next month.
func TestForHome_EventsCredited(t *testing.T) {
	from := time.Date(2026, time.July, 2, 16, 0, 0, 0, time.UTC)
	home := bill.Home{Location: time.UTC, Events: []pricing.Event{{Name: "heat", Kind: pricing.CriticalPeak, From: from, To: from.Add(time.Hour), Adder: 0.6}}}
	load := slices.Repeat([]float64{1}, 24)
	load[16] = -1
	for _, rollover := range []bill.Rollover{bill.Dollars, bill.Energy} {
		request := bill.Request{Load: load, StepMinutes: 60, Start: "2026-07-02", Rules: bill.Rules{Metering: bill.NetMetering, Rollover: rollover}}
		b, err := bill.ForHome(home, bill.Terms{Tariff: parse(t, oneRate(0.2))}, request)
		if want := 22*0.2 - 0.6; err != nil || !same(b.Total, want) {
			t.Errorf("%s: %+v, %v; want $%v", rollover, b, err, want)
		}
	}
}

// The events of a composed plan belong to its parts. An adjustment's percentages also apply to
// them. The bill has the caveats of all parts.
func TestComposed_Events(t *testing.T) {
	from := time.Date(2026, time.July, 2, 16, 0, 0, 0, time.UTC)
	tax := oneRate(0, fields{"name": "tax", "rate": 10, "unit": "%"})
	tax["demandreactivepowercharge"] = 0.5
	parts := []pricing.PricedPart{part(t, "delivery", pricing.RoleDelivery, oneRate(0.2)), part(t, "tax", pricing.RoleAdjustment, tax)}
	parts[0].Events = []pricing.Event{
		{Name: "heat", Kind: pricing.CriticalPeak, From: from, To: from.Add(5 * time.Hour), Adder: 0.6},
		{Name: "saving", Kind: pricing.PeakRebate, From: from, To: from.Add(time.Hour), Adder: 1.25},
	}
	r := bill.Request{Load: slices.Repeat([]float64{1}, 24), StepMinutes: 60, Start: "2026-07-02"}
	b := composedBill(t, parts, bill.Home{Location: time.UTC}, r)
	caveats := strings.Join(b.Caveats, "; ")
	if !same(b.Total, (4.8+3)*1.1) || !strings.Contains(caveats, "delivery: rebates") || !strings.Contains(caveats, "demandreactivepowercharge") {
		t.Errorf("total %v, want %v: %+v, caveats %q", b.Total, (4.8+3)*1.1, b.Parts, caveats)
	}
}
