package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/api/client"
)

func TestPlot(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/price_signal", ok(signalJSON))
	f.on("/v1/homes/h1/get", ok(homeJSON))
	got := run(t, f, "", []string{"signal", "h1", "--org", "acme", "--plot"})
	lines := strings.Split(got.out, "\n")
	if got.code != 0 || len(lines) < 14 {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	for i, want := range map[int]string{
		0: "import price in $/kWh, Tue 30 Jun 19:00 to Tue 30 Jun 19:45, America/Chicago",
		1: "  0.4000 ┤  █", 5: "  0.3273 ┤  █", 11: "         ┤  █", 12: "  0.2000 ┤███", 13: "         └───",
	} {
		if lines[i] != want {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
}

// A script may pass empty times for the default window.
func TestSignal_EmptyWindow(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/price_signal", ok(signalJSON))
	got := run(t, f, "", []string{"signal", "h1", "--org", "acme", "--from", "", "--to", ""})
	if got.code != 0 || f.last().body != "{}" {
		t.Errorf("exit %d: %s, it sent %s", got.code, got.err, f.last().body)
	}
}

// The plot marks hours by the zone's clock, also at clock changes, and days on long
// plots.
func TestPlot_Hours(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, chicago) // 25 hours
	for _, test := range []struct {
		days int
		want string
	}{
		{1, "00h             03h        06h         09h        12h         15h        18h         21h"},
		{4, "00h          12h         00h         12h         00h         12h         00h         12h"},
		{30, "1 Nov "},
	} {
		got := hours(plotWidth, at, at.AddDate(0, 0, test.days))
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%d days are marked\n%q, want\n%q", test.days, got, test.want)
		}
	}
}

func TestPlot_FlatPrice(t *testing.T) {
	var b strings.Builder
	plot(&b, client.Signal{Import: []float64{0.3, 0.3}}, time.UTC)
	if lines := strings.Split(b.String(), "\n"); lines[1] != "  0.3000 ┤██" || lines[12] != "         ┤██" {
		t.Errorf("it draws\n%s", b.String())
	}
}

// TestHours_LongWindows checks that every mark of a long window is there, although no column
// starts within its hour.
func TestHours_LongWindows(t *testing.T) {
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for days, want := range map[int]string{
		5:  "00h      12h       00h      12h       00h      12h       00h      12h       00h      12h",
		14: "1 Jul  2 Jul  3 Jul  4 Jul  5 Jul  6 Jul  7 Jul  8 Jul  9 Jul  10 Jul 11 Jul 12 Jul 13 Jul 14 Jul",
	} {
		if got := hours(plotWidth, start, start.AddDate(0, 0, days)); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%d days:\n%s\nwant\n%s", days, got, want)
		}
	}
}

func TestResample_Mean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		series := rapid.SliceOfN(rapid.Float64Range(-1, 1), 0, 3000).Draw(t, "series")
		width := rapid.IntRange(1, 120).Draw(t, "width")
		out := resample(series, width)
		if want := min(len(series), width); len(out) != want {
			t.Fatalf("%d values became %d, want %d", len(series), len(out), want)
		}
		for _, v := range out {
			if v < -1.000001 || v > 1.000001 {
				t.Fatalf("%g is outside of the input's range", v)
			}
		}
		if len(out) > 0 && len(series)%len(out) == 0 && math.Abs(mean(series)-mean(out)) > 1e-9 {
			t.Fatalf("the mean was %g and is %g", mean(series), mean(out))
		}
	})
}

func mean(series []float64) float64 {
	sum := 0.0
	for _, v := range series {
		sum += v
	}
	return sum / float64(len(series))
}

func TestInstant(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"24h":                       "2026-07-02T12:00:00Z",
		"-15m":                      "2026-07-01T11:45:00Z",
		"2026-07-01T02:00:00+02:00": "2026-07-01T00:00:00Z",
		"2026-07-01T00:00Z":         "2026-07-01T00:00:00Z",
	} {
		if got, err := instant("--x", text, now); err != nil || moment(*got) != want {
			t.Errorf("%s is %v, %v; want %s", text, got, err, want)
		}
	}
	if got, err := instant("--x", "", now); got != nil || err != nil {
		t.Errorf("an empty text gives %v, %v", got, err)
	}
}
