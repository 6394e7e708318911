package bill_test

import (
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/bill/billtest"
)

// The package reproduces every published bill of OpenStudio-HPXML to the dollar.
func TestBill_OpenStudioHPXML(t *testing.T) {
	for _, c := range billtest.HPXML(t) {
		t.Run(c.Name, func(t *testing.T) {
			meter := bill.Meter{
				Start: time.Date(2007, time.January, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC,
				Load: c.Load, Solar: c.Generated,
			}
			b, err := bill.Calculate(meter, hpxmlTerms(t, &c))
			if err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2]float64{
				"fixed": {b.Fixed, c.Expected.Fixed}, "energy": {b.Energy, c.Expected.Energy}, "credit": {-b.Credit, c.Expected.Credit},
			} {
				if !(math.Abs(pair[0]-pair[1]) <= c.Tolerance) { // NaN as well
					t.Errorf("%s: $%.2f, want $%.2f", what, pair[0], pair[1])
				}
			}
		})
	}
}

// hpxmlTerms returns the terms of a case.
func hpxmlTerms(t *testing.T, c *billtest.Case) bill.Terms {
	t.Helper()
	terms := bill.Terms{AnyDate: true, SolarKW: c.PVKW, Rules: bill.Rules{
		Tiers: bill.Prorated, SurplusRetail: c.Sellback == "retail", SurplusRate: c.SellRate, GridFee: c.Fee, GridFeePerKW: c.FeePerKW,
	}}
	if c.Metering == "feed_in_tariff" {
		terms.Metering, terms.FeedInRate = bill.FeedIn, c.FeedIn
	}
	rate, err := bill.ReadRate(c.Rate)
	if err != nil {
		t.Fatal(err)
	}
	terms.Tariff, terms.HourlyPrices = rate.Tariff, rate.HourlyPrices
	return terms
}
