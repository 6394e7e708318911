package bill_test

import (
	"testing"
	"time"

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
}
