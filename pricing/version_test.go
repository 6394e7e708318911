package pricing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// threeRates changes twice in 2026. Its versions state their ends in all the ways that
// occur.
func threeRates() doc {
	v := func(rate float64, from, to any) doc {
		d := flat(rate).With("utility", "Example Light").With("riders", []any{map[string]any{"name": "fuel", "rate": rate / 10}})
		return d.With("startdate", from).With("enddate", to)
	}
	return doc{"items": []any{
		v(0.3, "2026-07-01", nil),
		v(0.1, nil, nil),
		v(0.2, "2026-03-08", "2026-12-31"), // longer than until its successor
	}}
}

func TestVersions_WindowCrossesChange(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	tariff := threeRates().Parse(t)
	for _, change := range []struct {
		day           pricing.Window
		before, after float64
	}{
		{localDay(location, 2026, time.March, 8), 0.11, 0.22}, // the clocks change on the day too
		{localDay(location, 2026, time.July, 1), 0.22, 0.33},
	} {
		w := pricing.Window{Start: change.day.Start.Add(-time.Hour), End: change.day.Start.Add(time.Hour)}
		c := price(t, pricing.Input{Tariff: tariff, Location: location}, w)
		for i, got := range c.Import {
			want := change.before
			if i >= 4 {
				want = change.after
			}
			if got != want {
				t.Errorf("interval %d from %v: %v, want %v", i, w.Start, got, want)
			}
		}
	}
}

func TestVersions_Order(t *testing.T) {
	tariff := threeRates().Parse(t)
	var got []string
	for _, v := range tariff.Versions() {
		got = append(got, v.Info().EffectiveFrom.String()+".."+v.Info().EffectiveTo.String())
	}
	if want := []string{"..2026-03-07", "2026-03-08..2026-06-30", "2026-07-01.."}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
	day := tariff.AnyDay(tariff.Info().EffectiveFrom)
	if tariff.Info().EffectiveFrom.String() != "2026-07-01" || day.Tiers(0)[0].Rate != 0.3 || tariff.Riders()[0].Name != "fuel" {
		t.Errorf("the tariff does not describe its newest version: %+v", tariff.Info())
	}
}

// Between two versions there may be a time without a version, which has no price.
func TestVersions_Gap(t *testing.T) {
	tariff := doc{"items": []any{
		flat(0.1).With("startdate", "2026-01-01").With("enddate", "2026-01-31"),
		flat(0.2).With("startdate", "2026-03-01").With("enddate", "2026-03-31"),
	}}.Parse(t)
	in := pricing.Input{Tariff: tariff, Location: time.UTC}
	_, err := pricing.Price(in, window("2026-01-31T23:00:00Z", "2026-03-01T01:00:00Z"))
	var gap *pricing.NotInForceError
	if !errors.As(err, &gap) || !gap.At.Equal(instant("2026-02-01T00:00:00Z")) || gap.From.String() != "2026-01-01" || gap.To.String() != "2026-03-31" {
		t.Errorf("got %v", err)
	}
}

// The curve's source and compensation are those at the start of the window.
func TestVersions_CurveDescribesFirst(t *testing.T) {
	tariff := doc{"items": []any{
		flat(0.1).With("label", "old").With("dgrules", "Net Metering").With("startdate", "2020-01-01"),
		flat(0.2).With("label", "new").With("startdate", "2026-02-01"),
	}}.Parse(t)
	c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC}, window("2026-01-31T23:45:00Z", "2026-02-01T00:15:00Z"))
	if c.ImportSource != "Flat (old)" || c.ExportCompensation.Type != pricing.NetMetering || c.ExportCompensation.EffectiveTo.String() != "2026-01-31" {
		t.Errorf("got %s, %+v", c.ImportSource, c.ExportCompensation)
	}
	if c.Export[0] != 0.1 || c.Export[1] != 0 {
		t.Errorf("export %v: each version has its own rules", c.Export)
	}
}
