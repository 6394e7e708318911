package savings_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/savings"
)

func july(t *testing.T) *savings.Day {
	t.Helper()
	in := home(t, chicago, scePrime)
	in.Request = savings.Request{Type: savings.Monthly, Start: savings.Start{Month: ptr(7)}}
	day := estimate(t, in).Devices[0].Day
	if day == nil {
		t.Fatal("no day")
	}
	return day
}

func TestDay_Complete(t *testing.T) {
	d := july(t)
	if d.Date.Month != time.July || d.DeviceID != "dev_1" || d.Units != savings.Fahrenheit {
		t.Errorf("day %v of %s in %s", d.Date, d.DeviceID, d.Units)
	}
	if want := time.Date(2026, 7, d.Date.Day, 5, 0, 0, 0, time.UTC); !d.Start.Equal(want) {
		t.Errorf("starts %v, want %v", d.Start, want)
	}
	for _, values := range [][]float64{
		d.Price, d.Outdoor, d.Least, d.Greatest, d.Baseline.Temperature, d.Baseline.Kw, d.Optimized.Temperature, d.Optimized.Kw,
	} {
		if len(values) != 96 {
			t.Fatalf("%d values", len(values))
		}
	}
	for _, trace := range []savings.Trace{d.Baseline, d.Optimized} {
		cost := 0.0
		for i, kw := range trace.Kw {
			if kw < 0 || kw > 4 {
				t.Fatalf("quarter %d: %v kW", i, kw)
			}
			cost += kw / 4 * d.Price[i]
		}
		if math.Abs(cost-trace.Cost) > 1e-9 {
			t.Errorf("cost %v, the quarters add up to %v", trace.Cost, cost)
		}
	}
	if d.Optimized.Cost >= d.Baseline.Cost {
		t.Errorf("the best day costs %v, before %v", d.Optimized.Cost, d.Baseline.Cost)
	}
}

// The costs of a furnace's day include its gas: the fan takes 0.03 kWh for each kWh of heat.
// The best day of a year saves the most of both.
func TestDay_Gas(t *testing.T) {
	in := home(t, cities[5], flatRate)
	in.Request = savings.Request{Type: savings.Annual, Start: savings.Start{Month: ptr(9)}, Mode: ptr(savings.Heat), Comparison: savings.Setback}
	in.Devices[0].Equipment = savings.Equipment{HeatSource: savings.GasFurnace, AFUE: 0.9, GasPrice: 1.2}
	d := estimate(t, in).Devices[0].Day
	if d == nil {
		t.Fatal("no day")
	}
	if d.Date.Month == time.September {
		t.Errorf("the best day is %v, in the first and mildest month", d.Date)
	}
	for _, trace := range []savings.Trace{d.Baseline, d.Optimized} {
		want := 0.0
		for i, kw := range trace.Kw {
			want += kw/4*d.Price[i] + kw/4/0.03/0.9/29.3*1.2
		}
		if math.Abs(trace.Cost-want) > 0.01*want {
			t.Errorf("cost %v, want %v", trace.Cost, want)
		}
	}
	if d.Optimized.Cost >= d.Baseline.Cost {
		t.Errorf("the best day costs %v, before %v", d.Optimized.Cost, d.Baseline.Cost)
	}
}

func TestPlot_ShowsDay(t *testing.T) {
	d := july(t)
	lines := strings.Split(strings.TrimSuffix(d.String(), "\n"), "\n")
	if len(lines) != 1+12+4 {
		t.Fatalf("%d lines:\n%s", len(lines), d)
	}
	if !strings.HasPrefix(lines[0], d.Date.String()) || !strings.Contains(lines[0], "becomes") {
		t.Errorf("title %q", lines[0])
	}
	grid := strings.Join(lines[1:13], "\n")
	for _, sign := range []string{".", "o", "#", "@"} {
		if !strings.Contains(grid, sign) {
			t.Errorf("no %q in\n%s", sign, grid)
		}
	}
	for i, word := range []string{"00          06          12          18", "price", "before", "after"} {
		if line := lines[13+i]; !strings.Contains(line, word) {
			t.Errorf("line %q lacks %q", line, word)
		}
	}
	// The peak's price fills its ten columns, and no power is drawn through it all.
	price, after := []rune(lines[14]), []rune(lines[16])
	if got := string(price[10+32 : 10+42]); got != strings.Repeat("█", 10) {
		t.Errorf("the price of the peak is drawn %q", got)
	}
	if got := string(after[10+32 : 10+36]); got != "    " {
		t.Errorf("the power in the peak is drawn %q", got)
	}
}
