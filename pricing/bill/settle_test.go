package bill_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
)

// threeMonths exports 100 kWh in January, and uses 100 kWh in March.
func threeMonths() bill.Meter {
	m := bill.Meter{Start: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC, Load: make([]float64, 90*24)}
	m.Load[0], m.Load[len(m.Load)-1] = -100, 100
	return m
}

func TestCredits_Expire(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1}}}})
	for months, want := range map[int]float64{0: 0, 1: 10, 2: 0} {
		if b := calculate(t, threeMonths(), bill.Terms{Tariff: tariff, Rules: bill.Rules{CreditMonths: months}}); !near(b.Total, want) {
			t.Errorf("credits of %d months: $%v, want $%v", months, b.Total, want)
		}
	}
	two := threeMonths()
	two.Load[31*24] = -100 // February's credit is as new in March as if there were no other
	if b := calculate(t, two, bill.Terms{Tariff: tariff, Rules: bill.Rules{CreditMonths: 1}}); !near(b.Total, 0) {
		t.Errorf("credits of January and February: $%v, want $0", b.Total)
	}
}

// Net metering's credits, in dollars or in kWh, do not pay the charges on every kWh drawn (CPUC Decision
// 16-01-044), even if the credits lapse at the settlement.
//
// January sends 100 kWh and draws 50. It owes 50 x $0.02 = $1, and has a credit of
// (100 - 50) x ($0.30 - $0.02) = $14. March draws 100 kWh: 100 x $0.02 = $2 and
// 100 x $0.28 = $28. The 50 kWh of January are worth the same 50 x $0.28 = $14.
func TestCredits_PayNoUncreditedCharges(t *testing.T) {
	m := threeMonths()
	m.Load[1] = 50
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.3}}}, "nonbypassable": 0.02})
	part := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0}}}})
	plans := map[string]bill.Terms{"plan": {Tariff: tariff}, "parts": {Tariff: tariff, Parts: []pricing.PricedPart{
		{PlanPart: pricing.PlanPart{PlanID: "delivery", Role: pricing.RoleDelivery}, Tariff: tariff},
		{PlanPart: pricing.PlanPart{PlanID: "generation", Role: pricing.RoleGeneration}, Tariff: part},
	}}}
	request := bill.Request{Load: m.Load, Start: "2026-01-01", StepMinutes: 60}
	for month, want := range map[time.Month]float64{time.January: 1 + 2 + 28, time.March: 1 + 2 + 28 - 14} {
		for _, rollover := range []bill.Rollover{bill.Dollars, bill.Energy} {
			request.Rules = bill.Rules{Metering: bill.NetMetering, Rollover: rollover, TrueUpMonth: int(month)}
			for name, terms := range plans {
				if b, err := bill.ForHome(bill.Home{Location: time.UTC}, terms, request); err != nil || !near(b.Total, want) {
					t.Errorf("%s, %s, true-up after %v: %+v, %v; want $%v", name, rollover, month, b, err, want)
				}
			}
		}
	}
}

// Credits of net billing in dollars do not pay them either. January draws 50 kWh for $15, of
// which $1 are such charges, and earns $20. The remaining $6 end with the settlement of January.
// March draws 100 kWh for $30.
func TestCredits_NetBillingPaysNoUncreditedCharges(t *testing.T) {
	m := threeMonths()
	m.Load[1] = 50
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.3, "sell": 0.2}}}, "nonbypassable": 0.02})
	b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{Metering: bill.NetBilling, Rollover: bill.Dollars, TrueUpMonth: 1}})
	if want := 1.0 + 30; !near(b.Total, want) {
		t.Errorf("$%v, want $%v: %+v", b.Total, want, b)
	}
}

// Credits in kWh have no value in dollars that a settlement could pay in full.
func TestCredits_RetailOfKWh(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1}}}})
	request := bill.Request{Load: threeMonths().Load, Start: "2026-01-01", StepMinutes: 60, Rules: bill.Rules{Metering: bill.NetMetering, Rollover: bill.Energy, SurplusRetail: true}}
	_, err := bill.ForHome(bill.Home{Location: time.UTC}, bill.Terms{Tariff: tariff}, request)
	if wrong, ok := errors.AsType[*pricing.InvalidError](err); !ok || !strings.Contains(wrong.Error(), "surplusRetail") {
		t.Errorf("%v, want an error of surplusRetail", err)
	}
}

// A bill says why generated energy earns nothing.
func TestCredits_NothingEarned(t *testing.T) {
	hourly := bill.Terms{Tariff: parse(t, fields{"energyratestructure": flatRate(9)}), HourlyPrices: make([]float64, len(threeMonths().Load))}
	selling := bill.Terms{Tariff: parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.05}}}})}
	silent := bill.Terms{Tariff: parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1}}}})}
	composed := bill.Terms{Tariff: silent.Tariff, Parts: []pricing.PricedPart{
		part(t, "delivery", pricing.RoleDelivery, oneRate(0.2)), part(t, "cca", pricing.RoleGeneration, oneRate(0.1)),
	}}
	for _, tt := range []struct {
		name     string
		terms    bill.Terms
		rules    bill.Rules
		metering bill.Metering
		caveat   bool
	}{
		{"feed-in without a rate", silent, bill.Rules{Metering: bill.FeedIn}, bill.FeedIn, true},
		{"feed-in of parts without a rate", composed, bill.Rules{Metering: bill.FeedIn}, bill.FeedIn, true},
		{"feed-in at the plan's rate", selling, bill.Rules{Metering: bill.FeedIn}, bill.FeedIn, false},
		{"feed-in at a rate of the request", silent, bill.Rules{Metering: bill.FeedIn, FeedInRate: 0.05}, bill.FeedIn, false},
		{"feed-in at hourly prices", hourly, bill.Rules{Metering: bill.FeedIn}, bill.FeedIn, true},
		{"net billing", silent, bill.Rules{Metering: bill.NetBilling}, bill.NetBilling, true},
		{"net billing at hourly prices", hourly, bill.Rules{Metering: bill.NetBilling}, bill.NetBilling, true},
		{"no net metering at hourly prices", hourly, bill.Rules{NonNetMetered: true}, bill.NetBilling, true},
		{"net metering at hourly prices", hourly, bill.Rules{}, bill.NetMetering, false},
	} {
		request := bill.Request{Load: threeMonths().Load, Start: "2026-01-01", StepMinutes: 60, Rules: tt.rules}
		b, err := bill.ForHome(bill.Home{Location: time.UTC}, tt.terms, request)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := strings.Contains(strings.Join(b.Caveats, "; "), "nothing"); got != tt.caveat || b.Metering != tt.metering {
			t.Errorf("%s: %s, caveats %q", tt.name, b.Metering, b.Caveats)
		}
	}
}

func TestCredits_TrueUp(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1}}}})
	for month, want := range map[time.Month]float64{0: 0, time.January: 7, time.February: 7, time.March: 0, time.April: 0} {
		for _, rollover := range []bill.Rollover{bill.Dollars, bill.Energy} {
			b := calculate(t, threeMonths(), bill.Terms{Tariff: tariff, Rules: bill.Rules{TrueUpMonth: int(month), SurplusRate: 0.03, Rollover: rollover}})
			if !near(b.Total, want) || b.OpenCredit != 0 || b.OpenKWh != 0 {
				t.Errorf("true-up after %v, rollover %s: $%v, want $%v: %+v", month, rollover, b.Total, want, b)
			}
		}
	}
	// March uses 40 of January's 100 kWh. The other 60, worth $6, stay open until April. A
	// settlement after March ends them.
	m := threeMonths()
	m.Load[len(m.Load)-1] = 40
	for month, open := range map[int]float64{0: 0, 3: 0, 4: 60} {
		for rollover, of := range map[bill.Rollover][2]float64{bill.Dollars: {0.1, 0}, bill.Energy: {0, 1}} {
			b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{TrueUpMonth: month, Rollover: rollover}})
			if !near(b.Total, 0) || !near(b.OpenCredit, open*of[0]) || !near(b.OpenKWh, open*of[1]) {
				t.Errorf("true-up after %d, rollover %s: $%v, open $%v and %v kWh, want %v kWh", month, rollover, b.Total, b.OpenCredit, b.OpenKWh, open)
			}
		}
	}
}
