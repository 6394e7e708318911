package market_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// series returns prices for consecutive steps from 2026-07-01.
func series(t testing.TB, step time.Duration, prices ...float64) *market.Series {
	t.Helper()
	var points []market.Point
	for i, price := range prices {
		if !math.IsNaN(price) {
			points = append(points, market.Point{Start: instant("2026-07-01T00:00:00Z").Add(time.Duration(i) * step), Price: price})
		}
	}
	s, err := market.New(points, market.Options{Node: "N", Kind: market.RealTime, Step: step})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAt_PublishedPrice(t *testing.T) {
	gap := math.NaN()
	for _, tt := range []struct {
		name   string
		series *market.Series
		at     string
		want   float64
		ok     bool
	}{
		{"hour", series(t, time.Hour, 0.03, 0.05), "2026-07-01T00:45:00Z", 0.03, true},
		{"next hour", series(t, time.Hour, 0.03, 0.05), "2026-07-01T01:00:00Z", 0.05, true},
		{"half hour", series(t, 30*time.Minute, 0.03, 0.05), "2026-07-01T00:45:00Z", 0.05, true},
		{"quarter hour", series(t, 15*time.Minute, 0.03, 0.05), "2026-07-01T00:15:00Z", 0.05, true},
		{"mean of five minutes", series(t, 5*time.Minute, 0.03, 0.06, 0.09, 1, 1, 1), "2026-07-01T00:00:00Z", 0.06, true},
		{"mean of what there is", series(t, 5*time.Minute, 0.03, gap, 0.09), "2026-07-01T00:00:00Z", 0.06, true},
		{"negative", series(t, time.Hour, -0.02), "2026-07-01T00:15:00Z", -0.02, true},
		{"before", series(t, time.Hour, 0.03), "2026-06-30T23:45:00Z", 0, false},
		{"after, with too little to forecast from", series(t, time.Hour, 0.03), "2026-07-01T01:00:00Z", 0, false},
		{"in a gap, with too little", series(t, time.Hour, 0.03, gap, 0.05), "2026-07-01T01:00:00Z", 0, false},
	} {
		got, ok := tt.series.At(instant(tt.at).Unix())
		if ok != tt.ok || math.Abs(got.Value-tt.want) > 1e-12 || ok && (got.Confidence != 1 || got.Forecast) {
			t.Errorf("%s: got %+v, %v", tt.name, got, ok)
		}
	}
}

// The last quarter hour of a series is a forecast until all of its prices are published.
func TestAt_PartlyPublished(t *testing.T) {
	prices := make([]float64, 7*24*12) // of five minutes
	for i := range prices {
		prices[i] = 0.03
	}
	at := instant("2026-07-08T00:00:00Z").Unix()
	for published, whole := range map[int]bool{1: false, 2: false, 3: true} {
		spike := slices.Repeat([]float64{0.9}, published)
		got, ok := series(t, 5*time.Minute, slices.Concat(prices, spike)...).At(at)
		if !ok || got.Forecast == whole || (got.Confidence == 1) != whole || (got.Value > 0.899) != whole || got.Value < 0.3*float64(published) {
			t.Errorf("%d of 3 prices are published: %+v", published, got)
		}
	}
	if got, ok := series(t, 5*time.Minute, 0.03, 0.9).At(instant("2026-07-01T00:00:00Z").Unix()); !ok || got.Confidence == 1 {
		t.Errorf("without a forecast: %+v", got)
	}
}

func TestNew_SortsAndMerges(t *testing.T) {
	at := instant("2026-07-01T00:00:00Z")
	p := func(minutes int, price float64) market.Point {
		return market.Point{Start: at.Add(time.Duration(minutes) * time.Minute), Price: price}
	}
	s, err := market.New([]market.Point{p(60, 2), p(0, 1), p(60, 3), p(180, 4)}, market.Options{Node: "N", Kind: market.DayAhead})
	if err != nil {
		t.Fatal(err)
	}
	from, to := s.Span()
	if s.Step() != time.Hour || !from.Equal(at) || !to.Equal(at.Add(4*time.Hour)) {
		t.Errorf("got %v from %v to %v", s.Step(), from, to)
	}
	points := s.Points()
	if len(points) != 3 || points[1] != p(60, 3) || points[2] != p(180, 4) {
		t.Errorf("got %v: the later of two prices counts, and a gap remains", points)
	}
	var daily []market.Point
	for day := range 3 * 366 {
		daily = append(daily, p(day*24*60, 1))
	}
	for name, points := range map[string][]market.Point{
		"none":     nil,
		"too long": append(daily, p(5, 1)), // three years of five minutes
		"off grid": {p(1, 1), p(61, 1)},
		"odd step": {p(0, 1), p(20, 1)},
		"NaN":      {p(0, math.NaN())},
		"absurd":   {p(0, 51)},
		"distant":  {p(0, 1), p(60, 1), {Start: at.AddDate(0, 2, 0), Price: 1}},
		"endless":  {p(0, 1), p(5, 1), {Start: at.AddDate(10, 0, 0), Price: 1}},
	} {
		if _, err := market.New(points, market.Options{}); !errors.Is(err, market.ErrSeries) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
