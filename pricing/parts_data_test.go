package pricing_test

import (
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// seasons holds the prices of a schedule by season and period.
type seasons map[string]map[string]map[string]float64

// eElecSheet is PG&E's schedule E-ELEC of March 2026, and the generation of an aggregator.
type eElecSheet struct {
	Energy seasons            // generation and distribution
	Adders map[string]float64 // of every kWh
	CCA    struct {
		PCIA          map[string]float64 `json:"pcia_vintages"`
		FranchiseFees map[string]float64 `json:"franchise_fee_vintages"`
	}
}

// readUnbundled reads the sheet, and the rates of Marin Clean Energy from April 2026 on.
func readUnbundled(t *testing.T) (sheet eElecSheet, mce map[string]map[string]float64) {
	t.Helper()
	var published struct {
		Tariffs []struct {
			Tariff, Effective string
			eElecSheet
		}
		CCA []struct {
			Effective  string
			Generation map[string]map[string]map[string]float64
		}
	}
	readTestdata(t, &published, "data", "tariffs", "pge_residential_2025_2026.json")
	for _, tariff := range published.Tariffs {
		if tariff.Tariff == "E-ELEC" && tariff.Effective == "2026-03-01" {
			sheet = tariff.eElecSheet
		}
	}
	for _, aggregator := range published.CCA {
		if aggregator.Effective == "2026-04-01" {
			mce = aggregator.Generation["eelec"]
		}
	}
	if sheet.Energy == nil || mce == nil {
		t.Fatal("the file lacks the sheet or the aggregator")
	}
	return sheet, mce
}

// timeOfUse returns a plan with E-ELEC's hours. rate returns the price of a season's
// period.
func timeOfUse(name string, rate func(season, period string) float64) doc {
	var periods []any
	for _, season := range []string{"winter", "summer"} {
		for _, period := range []string{"off_peak", "part_peak", "peak"} {
			periods = append(periods, tiers(0, rate(season, period)))
		}
	}
	const winter, summer = "0x15 1x1 2x5 1x3", "3x15 4x1 5x5 4x3"
	return doc{"name": name, "energyratestructure": periods, "energyweekdayschedule": year(winter, summer), "energyweekendschedule": year(winter, summer)}
}

// The unbundled price of a home of PG&E and Marin Clean Energy equals the sum of the
// published components in every interval of a year. The plan is composed of the bundled
// schedule, minus its generation, plus the aggregator's generation and the PCIA of 2019.
func TestParts_PublishedUnbundledRates(t *testing.T) {
	sheet, mce := readUnbundled(t)
	location := zone(t, "America/Los_Angeles")
	parts := []pricing.PricedPart{
		part("pge-e-elec", pricing.RoleDelivery, eElec(t)),
		part("minus-generation", pricing.RoleGeneration, timeOfUse("minus the utility's generation", func(season, period string) float64 {
			return -sheet.Energy[season][period]["generation"] - sheet.Adders["bundled_pcia"]
		}).Parse(t)),
		part("mce", pricing.RoleGeneration, timeOfUse("Marin Clean Energy", func(season, period string) float64 { return mce[season][period] }).Parse(t)),
		part("pcia-2019", pricing.RoleGeneration, flat(sheet.CCA.PCIA["2019"]+sheet.CCA.FranchiseFees["2019"]).Parse(t)),
		part("care", pricing.RoleAdjustment, percent(t, 0, -35)),
	}
	w := pricing.Window{Start: localDay(location, 2026, time.April, 1).Start, End: localDay(location, 2027, time.April, 1).Start}
	got := price(t, composed(location, parts...), w)
	for i := range got.Len() {
		local := w.At(i).In(location)
		season, period := "winter", "off_peak"
		if local.Month() >= time.June && local.Month() <= time.September {
			season = "summer"
		}
		switch hour := local.Hour(); {
		case hour >= 16 && hour < 21:
			period = "peak"
		case hour >= 15:
			period = "part_peak"
		}
		want := sheet.Energy[season][period]["distribution"] + mce[season][period] + sheet.CCA.PCIA["2019"] + sheet.CCA.FranchiseFees["2019"]
		for name, adder := range sheet.Adders {
			if name != "bundled_pcia" {
				want += adder
			}
		}
		if want *= 0.65; math.Abs(got.Import[i]-want) > 5e-6 {
			t.Fatalf("at %v: %v, want %v", local, got.Import[i], want)
		}
	}
}
