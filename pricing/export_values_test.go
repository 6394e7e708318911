package pricing_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/netbilling"
)

// Whole years of net billing by the hour, against a plain look-up by the local
// clock and the utility's list of holidays.
func TestNetBillingByTheHour(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	holidays := map[string]bool{}
	for _, day := range []string{ // as PG&E lists them
		"2026-01-01", "2026-02-16", "2026-05-25", "2026-07-03", "2026-09-07", "2026-11-11", "2026-11-26", "2026-12-25",
		"2027-01-01", "2027-02-15", "2027-05-31", "2027-07-05", "2027-09-06", "2027-11-11", "2027-11-25", "2027-12-24", "2027-12-31",
	} {
		holidays[day] = true
	}
	values, _ := netbilling.Named("PG&E NBT26")
	tariff := flat(0.4).with("dgrules", "Net Billing Hourly").with("exportvalues", "pg&e nbt26").parse(t)
	c := price(t, pricing.Input{Tariff: tariff, Location: location}, window("2026-01-01T08:00:00Z", "2028-01-01T08:00:00Z"))
	if c.ExportCompensation.Type != pricing.NetBilling {
		t.Fatalf("got %+v", c.ExportCompensation)
	}
	above := 0
	for i, got := range c.Export {
		local := c.Window.At(i).In(location)
		weekend := local.Weekday() == time.Saturday || local.Weekday() == time.Sunday || holidays[local.Format(time.DateOnly)]
		want := values.At(local.Year(), local.Month(), weekend, local.Hour()).Total()
		if !sameRate(got, want) || c.Import[i] != 0.4 || c.Confidence[i] != 1 {
			t.Fatalf("%v: export %v, import %v; want %v", local, got, c.Import[i], want)
		}
		if got > 0.4 {
			above++
		}
	}
	if above == 0 {
		t.Error("no hour of scarcity: the values of September evenings are above the import price")
	}
}

func TestNetBillingValuesAndMetering(t *testing.T) {
	tariff := flat(0.4).with("dgrules", "Net Metering").with("exportvalues", "SCE NBT24").parse(t)
	w := window("2026-06-10T19:00:00Z", "2026-06-10T20:00:00Z")
	location := zone(t, "America/Los_Angeles")
	for _, tt := range []struct {
		solar *pricing.Solar
		want  pricing.CompensationType
	}{
		{&pricing.Solar{SizeKw: 5}, pricing.NetMetering},
		{&pricing.Solar{SizeKw: 5, NonNetMetered: true}, pricing.NetBilling},
	} {
		c := price(t, pricing.Input{Tariff: tariff, Location: location, Solar: tt.solar}, w)
		if c.ExportCompensation.Type != tt.want || (c.Export[0] == 0.4) != (tt.want == pricing.NetMetering) {
			t.Errorf("%+v: %s, %v", tt.solar, c.ExportCompensation.Type, c.Export[0])
		}
	}
}

// A year that is not published has the values of the nearest one, and less
// confidence.
func TestNetBillingBeyondThePublishedYears(t *testing.T) {
	tariff := flat(0.4).with("exportvalues", "PG&E NBT26").parse(t)
	c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC}, window("2025-12-31T23:45:00Z", "2026-01-01T00:15:00Z"))
	if c.Confidence[0] != 0.7 || c.Confidence[1] != 1 || c.Export[0] == 0 {
		t.Errorf("confidence %v, export %v", c.Confidence, c.Export)
	}
}

func TestUnknownExportValuesAreRefused(t *testing.T) {
	wantProblems(t, flat(1).with("exportvalues", "PG&E NBT99").json(t), []string{`exportvalues: "PG&E NBT99" is not known; these are: PG&E NBT00, `})
}
