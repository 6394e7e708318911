package pricing_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

func TestPrice_FirstTierAndAdjustment(t *testing.T) {
	phoenix := zone(t, "America/Phoenix")
	friday := price(t, pricing.Input{Tariff: apsSaverChoicePlus().Parse(t), Location: phoenix}, localDay(phoenix, 2026, time.July, 3))
	for i, want := range map[int]float64{0: 0.096486, 59: 0.096486, 60: 0.150106, 79: 0.150106, 80: 0.096486, 95: 0.096486} {
		if friday.Import[i] != want || friday.Price[i] != want {
			t.Errorf("interval %d: import %v, price %v, want %v", i, friday.Import[i], friday.Price[i], want)
		}
	}
	jackson := price(t, pricing.Input{Tariff: jacksonEMC().Parse(t), Location: phoenix}, localDay(phoenix, 2026, time.July, 3))
	if jackson.Import[0] != 0.0896 {
		t.Errorf("import %v, want the first tier's 0.0896", jackson.Import[0])
	}
}

func TestPrice_ClockChange(t *testing.T) {
	// The peak is from 15:00 to 20:00 by the wall clock, whatever the length of the day.
	// These are Sundays: the schedule is the same every day.
	tariff := apsSaverChoicePlus().With("energyweekendschedule", nil).Parse(t)
	for _, tt := range []struct {
		zone       string
		year       int
		month      time.Month
		day        int
		len, peak  int // intervals of the day, and the first one at 15:00
		peakLength int
	}{
		{"America/Los_Angeles", 2026, time.March, 8, 92, 56, 20},
		{"America/Los_Angeles", 2026, time.November, 1, 100, 64, 20},
		{"America/New_York", 2026, time.March, 8, 92, 56, 20},
		{"America/Phoenix", 2026, time.March, 8, 96, 60, 20},
		{"America/Havana", 2026, time.March, 8, 92, 56, 20}, // the clock jumps at midnight
		{"Australia/Lord_Howe", 2026, time.April, 5, 98, 62, 20},
		{"Europe/Berlin", 2026, time.October, 25, 100, 64, 20},
	} {
		location := zone(t, tt.zone)
		c := price(t, pricing.Input{Tariff: tariff, Location: location}, localDay(location, tt.year, tt.month, tt.day))
		if c.Len() != tt.len {
			t.Errorf("%s %d-%d: %d intervals, want %d", tt.zone, tt.month, tt.day, c.Len(), tt.len)
			continue
		}
		for i, v := range c.Import {
			if peak := i >= tt.peak && i < tt.peak+tt.peakLength; peak != (v > 0.1) {
				t.Errorf("%s %d-%d: interval %d has %v, peak is %v", tt.zone, tt.month, tt.day, i, v, peak)
				break
			}
		}
	}
}

func TestPrice_InForce(t *testing.T) {
	newYork := zone(t, "America/New_York")
	tariff := flat(0.1).With("startdate", "2026-03-01").With("enddate", "2026-03-31").Parse(t)
	for _, tt := range []struct {
		name string
		w    pricing.Window
		gap  string // start of the first interval without a price
	}{
		{"from local midnight to local midnight", window("2026-03-01T00:00:00-05:00", "2026-04-01T00:00:00-04:00"), ""},
		{"one interval too early", window("2026-02-28T23:45:00-05:00", "2026-03-01T01:00:00-05:00"), "2026-03-01T04:45:00Z"},
		{"one interval too late", window("2026-03-31T23:00:00-04:00", "2026-04-01T00:15:00-04:00"), "2026-04-01T04:00:00Z"},
		{"UTC midnight is not local midnight", window("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"), "2026-03-01T00:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pricing.Price(pricing.Input{Tariff: tariff, Location: newYork}, tt.w)
			if tt.gap == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			var gap *pricing.NotInForceError
			if !errors.As(err, &gap) {
				t.Fatalf("got %v, want a *NotInForceError", err)
			}
			if !gap.At.Equal(instant(tt.gap)) || gap.From.String() != "2026-03-01" || gap.To.String() != "2026-03-31" {
				t.Errorf("got %+v, want the gap at %s", gap, tt.gap)
			}
		})
	}
}

func TestPrice_Invalid(t *testing.T) {
	good := pricing.Input{Tariff: flat(0.1).Parse(t), Location: time.UTC}
	hour := window("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
	for _, tt := range []struct {
		name string
		in   pricing.Input
		w    pricing.Window
		want error
	}{
		{"no tariff", pricing.Input{Location: time.UTC}, hour, pricing.ErrNoTariff},
		{"no location", pricing.Input{Tariff: good.Tariff}, hour, pricing.ErrNoLocation},
		{"empty window", good, pricing.Window{Start: hour.Start, End: hour.Start}, pricing.ErrWindow},
		{"reversed window", good, pricing.Window{Start: hour.End, End: hour.Start}, pricing.ErrWindow},
		{"not whole", good, pricing.Window{Start: hour.Start.Add(time.Minute), End: hour.End}, pricing.ErrWindow},
		{"not whole by a nanosecond", good, pricing.Window{Start: hour.Start, End: hour.End.Add(1)}, pricing.ErrWindow},
	} {
		if c, err := pricing.Price(tt.in, tt.w); !errors.Is(err, tt.want) || c != nil {
			t.Errorf("%s: got %v, %v; want %v", tt.name, c, err, tt.want)
		}
	}
}

// A window within another has the same values at the same instants. The same inputs give
// the same bytes.
func TestPrice_IndependentOfWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	location := zone(t, "America/Los_Angeles")
	in := pricing.Input{Tariff: apsSaverChoicePlus().Parse(t), Location: location}
	wide := window("2026-02-20T00:00:00Z", "2026-11-10T00:00:00Z")
	whole := price(t, in, wide)
	for range 500 {
		from := random.IntN(wide.Len() - 1)
		length := 1 + random.IntN(min(300, wide.Len()-from))
		part := pricing.Window{Start: wide.At(from), End: wide.At(from + length)}
		c := price(t, in, part)
		for i := range c.Len() {
			if c.Import[i] != whole.Import[from+i] || c.Export[i] != whole.Export[from+i] {
				t.Fatalf("%v: interval %d differs from the wide window's", part, i)
			}
		}
		if again := price(t, in, part); !bytes.Equal(curveText(again), curveText(c)) {
			t.Fatalf("%v: priced twice, two encodings", part)
		}
	}
}

func TestPrice_SeriesDoNotShare(t *testing.T) {
	c := price(t, pricing.Input{Tariff: flat(0.1).Parse(t), Location: time.UTC}, window("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"))
	_ = append(c.Import, 9)
	if c.Export[0] == 9 {
		t.Error("append to Import wrote into Export")
	}
}
