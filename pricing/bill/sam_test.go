package bill_test

import (
	"math"
	"testing"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/bill/billtest"
)

func TestBill_SAM(t *testing.T) {
	for _, c := range billtest.SAM(t) {
		terms, err := bill.ReadRate(c.Tariff)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bill.ForHome(bill.Home{}, terms, c.Request)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(b.Total-c.Want) > 0.1 || math.Abs(b.OpenCredit-c.Open) > 0.1 {
			t.Errorf("%s: the credits are $%.2f and $%.2f, want %.2f and %.2f", c.Name, b.Total, b.OpenCredit, c.Want, c.Open)
		}
		if c.Name == "demand charges" && (math.Abs(b.Fixed+b.Energy-45388.11) > 0.1 || math.Abs(b.Demand-(104614.5-45388.11)) > 0.1) {
			t.Errorf("fixed %.2f, energy %.2f, demand %.2f", b.Fixed, b.Energy, b.Demand)
		}
	}
}
