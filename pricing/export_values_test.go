package pricing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/netbilling"
)

// The test compares whole years of hourly net billing with a lookup by the local clock
// and the utility's list of holidays. PG&E alone observes a Saturday's holiday on the Friday
// before.
func TestNetBilling_Hourly(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	holidays := []string{ // as PG&E lists them
		"2026-01-01", "2026-02-16", "2026-05-25", "2026-07-03", "2026-09-07", "2026-11-11", "2026-11-26", "2026-12-25",
		"2027-01-01", "2027-02-15", "2027-05-31", "2027-07-05", "2027-09-06", "2027-11-11", "2027-11-25", "2027-12-24", "2027-12-31",
	}
	for name, fridays := range map[string]bool{"PG&E NBT26": true, "SCE NBT24": false} {
		values, ok := netbilling.Named(name)
		tariff := flat(0.4).With("dgrules", "Net Billing Hourly").With("exportvalues", name).Parse(t)
		c := price(t, pricing.Input{Tariff: tariff, Location: location}, window("2026-01-01T08:00:00Z", "2028-01-01T08:00:00Z"))
		if !ok || c.ExportCompensation.Type != pricing.NetBilling {
			t.Fatalf("%s: got %+v", name, c.ExportCompensation)
		}
		above := 0
		for i, got := range c.Export {
			local := c.Window.At(i).In(location)
			day := local.Format(time.DateOnly)
			moved := !fridays && slices.Contains([]string{"2026-07-03", "2027-12-24", "2027-12-31"}, day)
			weekend := local.Weekday() == time.Saturday || local.Weekday() == time.Sunday || slices.Contains(holidays, day) && !moved
			want := values.At(local.Year(), local.Month(), weekend, local.Hour()).Total()
			if !sameRate(got, want) || c.Import[i] != 0.4 || c.Confidence[i] != 1 {
				t.Fatalf("%s, %v: export %v, import %v; want %v", name, local, got, c.Import[i], want)
			}
			if got > 0.4 {
				above++
			}
		}
		if above == 0 {
			t.Errorf("%s: no hour of scarcity: the values of September evenings exceed the import price", name)
		}
	}
}

func TestNetBilling_ValuesAndMetering(t *testing.T) {
	tariff := flat(0.4).With("dgrules", "Net Metering").With("exportvalues", "SCE NBT24").Parse(t)
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

// A year without published values has the values of the nearest year. A home with solar
// has less confidence in it, a home without has no exports.
func TestNetBilling_BeyondPublishedYears(t *testing.T) {
	tariff := flat(0.4).With("exportvalues", "PG&E NBT26").Parse(t)
	for first, solar := range map[float64]*pricing.Solar{0.7: {SizeKw: 5, AppliedFrom: 2026, AppliedTo: 2026}, 1: nil} {
		c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC, Solar: solar}, window("2025-12-31T23:45:00Z", "2026-01-01T00:15:00Z"))
		if c.Confidence[0] != first || c.Confidence[1] != 1 || c.Export[0] == 0 {
			t.Errorf("solar %v: confidence %v, export %v", solar, c.Confidence, c.Export)
		}
	}
}

// A home of 2024 gets the adder of its segment on top of the avoided cost, for nine
// years, and the reasons say so.
func TestNetBilling_Adder(t *testing.T) {
	tariff := flat(0.4).With("exportvalues", "SCE NBT24").Parse(t)
	in := pricing.Input{Tariff: tariff, Location: zone(t, "America/Los_Angeles"), Solar: &pricing.Solar{SizeKw: 5, NonNetMetered: true}}
	for start, want := range map[string]float64{"2026-06-10T19:00:00Z": 0.074, "2032-12-31T19:00:00Z": 0.074, "2033-01-01T19:00:00Z": 0} {
		at, err := time.Parse(time.RFC3339, start)
		if err != nil {
			t.Fatal(err)
		}
		w := pricing.Window{Start: at, End: at.Add(time.Hour)}
		in.Solar.AccPlus, in.Solar.ConnectionYear = "", 0
		without := price(t, in, w)
		in.Solar.AccPlus, in.Solar.ConnectionYear = netbilling.LowIncome, 2024
		with := price(t, in, w)
		if !sameRate(with.Export[0]-without.Export[0], want) {
			t.Errorf("%s: %v without, %v with the adder, want %v more", start, without.Export[0], with.Export[0], want)
		}
		reasons, err := pricing.Explain(in, w)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, part := range reasons[0].Export {
			sum += part.Rate
		}
		if !sameRate(sum, with.Export[0]) {
			t.Errorf("%s: the parts add up to %v, the price is %v", start, sum, with.Export[0])
		}
	}
}

// Independence Day of 2026 is a Saturday, which SCE does not move to the Friday: the 3rd
// is a weekday for imports and exports.
func TestHolidays_SharedByDirections(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	values, _ := netbilling.Named("SCE NBT24")
	weekday := values.At(2026, time.July, false, 18).Total()
	weekend := values.At(2026, time.July, true, 18).Total()
	if weekday == weekend {
		t.Fatal("the day has no effect")
	}
	for name, tt := range map[string]struct {
		tariff *pricing.Tariff
		want   float64
	}{
		"holidays that stay":    {flat(0.4).With("holidays", []any{"Independence Day"}).With("holidaysobserved", "monday").With("exportvalues", "SCE NBT24").Parse(t), weekday},
		"holidays that move":    {flat(0.4).With("holidays", []any{"Independence Day"}).With("exportvalues", "SCE NBT24").Parse(t), weekend},
		"the utility's, of SCE": {flat(0.4).With("exportvalues", "SCE NBT24").Parse(t), weekday},
	} {
		c := price(t, pricing.Input{Tariff: tt.tariff, Location: location}, window("2026-07-04T01:00:00Z", "2026-07-04T02:00:00Z"))
		if !sameRate(c.Export[0], tt.want) {
			t.Errorf("%s: %v, want %v", name, c.Export[0], tt.want)
		}
	}
}
