package market_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/market"
)

// The forecast of a market with the same hours every week has no error.
func TestForecast_RegularMarket(t *testing.T) {
	price := func(at time.Time) float64 {
		v := 0.02 + 0.03*math.Sin(float64(at.Hour())/24*2*math.Pi)
		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
			v *= 0.5
		}
		return v
	}
	start := instant("2026-06-01T00:00:00Z")
	var prices []market.Point
	for i := range 28 * 24 {
		at := start.Add(time.Duration(i) * time.Hour)
		prices = append(prices, market.Point{Start: at, Price: price(at)})
	}
	s, err := market.New(prices, market.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, end := s.Span()
	for at := end; at.Before(end.Add(market.MaxHorizon)); at = at.Add(15 * time.Minute) {
		got, ok := s.At(at.Unix())
		if !ok || !got.Forecast || math.Abs(got.Value-price(at)) > 1e-9 {
			t.Fatalf("%v: got %+v, %v; want %v", at, got, ok, price(at))
		}
		if got.Confidence != 0.5 {
			t.Fatalf("%v: confidence %v in a regular market", at, got.Confidence)
		}
	}
	if _, ok := s.At(end.Add(market.MaxHorizon + time.Hour).Unix()); ok {
		t.Error("a forecast beyond the horizon")
	}
}

// Unusual prices at the end of the series fade out. After a day at 0.02 and one at 0.04, the shape
// is their mean (0.02 x w + 0.04) / (1 + w) with the weight w = 2^(-1/28) of the first day. The
// forecast starts half the last day's deviation above it, and has 1/e of that after four hours. A
// history below two days, or of 48 half hours, gives no forecast.
func TestForecast_LastDay(t *testing.T) {
	w := math.Exp2(-1.0 / 28)
	shape := (0.02*w + 0.04) / (1 + w)
	half := (0.04 - shape) / 2
	hours := slices.Concat(slices.Repeat([]float64{0.02}, 24), slices.Repeat([]float64{0.04}, 24))
	var halves []float64 // of the same hours
	for _, price := range hours {
		halves = append(halves, price-0.01, price+0.01)
	}
	for name, s := range map[string]*market.Series{"hours": series(t, time.Hour, hours...), "half hours": series(t, 30*time.Minute, halves...)} {
		_, end := s.Span()
		for after, want := range map[time.Duration]float64{0: shape + half, 4 * time.Hour: shape + half/math.E} {
			if got, ok := s.At(end.Add(after).Unix()); !ok || math.Abs(got.Value-want) > 1e-5 {
				t.Errorf("%s, %v after the end: %+v, want %v", name, after, got, want)
			}
		}
	}
	for name, s := range map[string]*market.Series{"47 hours": series(t, time.Hour, hours[1:]...), "48 half hours": series(t, 30*time.Minute, halves[:48]...)} {
		_, end := s.Span()
		if got, ok := s.At(end.Unix()); ok {
			t.Errorf("%s: a forecast of %+v", name, got)
		}
		if got, ok := s.Typical().At(end.Unix()); ok {
			t.Errorf("%s: a typical price of %+v", name, got)
		}
	}
}

// Fewer than two weeks have one shape for all days: without the last hour of 14 days, a Saturday
// has the mean of weekdays and weekends.
func TestForecast_TwoWeeks(t *testing.T) {
	var prices []float64 // from Wednesday, 1 July
	for i := range 14 * 24 {
		price := 0.03
		if day := (i/24 + 2) % 7; day >= 5 {
			price = 0.05
		}
		prices = append(prices, price)
	}
	saturday := instant("2026-07-18T12:00:00Z").Unix()
	for n, separate := range map[int]bool{len(prices): true, len(prices) - 1: false} {
		if got, ok := series(t, time.Hour, prices[:n]...).At(saturday); !ok || got.Value < 0.03 || (got.Value > 0.0499) != separate {
			t.Errorf("%d hours: %+v, want a weekend of its own: %v", n, got, separate)
		}
	}
}

// An erratic market has a forecast with less confidence than a steady one. Each
// confidence is the share of its hours within a tenth of their mean.
func TestForecast_ConfidenceOfSeries(t *testing.T) {
	confidence := func(jitter float64) float64 {
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // reproducible by intent
		var prices []float64
		for range 60 * 24 {
			prices = append(prices, 0.05*math.Exp(jitter*random.NormFloat64()))
		}
		s := series(t, time.Hour, prices...)
		_, end := s.Span()
		got, _ := s.At(end.Add(12 * time.Hour).Unix())
		return got.Confidence
	}
	if calm, wild := confidence(0.1), confidence(0.5); calm < 0.45 || wild > 0.25 || wild < 0.08 {
		t.Errorf("confidence %v and %v", calm, wild)
	}
}

// Estimates of a year reach further than a forecast: to the same hour of the published
// year, and to the shape where there is none.
func TestTypical_AnyTime(t *testing.T) {
	var prices []float64
	for i := range 364 * 24 {
		prices = append(prices, 0.03+0.001*float64(i/24))
	}
	s := series(t, time.Hour, prices...)
	from, end := s.Span()
	if _, ok := s.At(end.Add(100 * 24 * time.Hour).Unix()); ok {
		t.Fatal("a forecast beyond the horizon")
	}
	for _, at := range []time.Time{end.Add(100 * 24 * time.Hour), from.Add(-264 * 24 * time.Hour), end.Add(464 * 24 * time.Hour)} {
		if got, ok := s.Typical().At(at.Unix()); !ok || math.Abs(got.Value-0.13) > 1e-9 || !got.Forecast || got.Confidence > 0.2 {
			t.Errorf("%v: %+v, %v", at, got, ok)
		}
	}
	short := series(t, time.Hour, prices[:14*24]...).Typical()
	if got, ok := short.At(end.Unix()); !ok || got.Value < 0.03 || got.Value > 0.05 {
		t.Errorf("from two weeks: %+v, %v", got, ok)
	}
}

func TestForecast_Gaps(t *testing.T) {
	var prices []float64
	for i := range 10 * 24 {
		prices = append(prices, 0.01*float64(i%24))
	}
	for i := 5 * 24; i < 6*24; i++ {
		prices[i] = math.NaN()
	}
	s := series(t, time.Hour, prices...)
	at := instant("2026-07-06T13:30:00Z")
	got, ok := s.At(at.Unix())
	if !ok || !got.Forecast || math.Abs(got.Value-0.13) > 1e-9 || got.Confidence >= 0.8 {
		t.Errorf("got %+v, %v", got, ok)
	}
	// In a gap, the longest horizon counts from the last price before it.
	long := series(t, time.Hour, slices.Concat(slices.Repeat([]float64{0.03}, 48), slices.Repeat([]float64{math.NaN()}, 50*24), slices.Repeat([]float64{0.03}, 48))...)
	for day, want := range map[int]bool{44: true, 46: false} {
		if got, ok := long.At(instant("2026-07-03T00:00:00Z").AddDate(0, 0, day).Unix()); ok != want {
			t.Errorf("%d days into a gap: %+v, %v", day, got, ok)
		}
	}
}

// An hour of the day that was never published has no forecast instead of a price of 0.
func TestForecast_HoursWithoutHistory(t *testing.T) {
	var prices []float64
	for i := range 20 * 24 {
		price := math.NaN()
		if h := i % 24; h >= 6 && h <= 21 {
			price = 0.08
		}
		prices = append(prices, price)
	}
	s := series(t, time.Hour, prices...)
	for _, s := range []*market.Series{s, s.Typical()} {
		for at, want := range map[string]bool{"2026-07-25T12:00:00Z": true, "2026-07-25T03:00:00Z": false, "2026-07-10T03:15:00Z": false} {
			got, ok := s.At(instant(at).Unix())
			if ok != want || ok && math.Abs(got.Value-0.08) > 1e-9 {
				t.Errorf("%s: %+v, %v", at, got, ok)
			}
		}
	}
}

// backtest forecasts a day from many points of a series, and returns the mean error of
// the model and of the two naive forecasts: yesterday's and last week's prices.
func backtest(t *testing.T, points []market.Point, location *time.Location) (model, yesterday, lastWeek float64) {
	t.Helper()
	const history, day, every = 28 * 24, 24, 37
	n := 0.0
	for from := history; from+day <= len(points); from += every {
		s, err := market.New(points[:from], market.Options{Location: location, Step: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for h := range day {
			actual := points[from+h]
			got, ok := s.At(actual.Start.Unix())
			if !ok {
				t.Fatalf("no forecast for %v", actual.Start)
			}
			model += math.Abs(got.Value - actual.Price)
			yesterday += math.Abs(points[from+h-day].Price - actual.Price)
			lastWeek += math.Abs(points[from+h-7*day].Price - actual.Price)
			n++
		}
	}
	return model / n, yesterday / n, lastWeek / n
}

// On four months of a real hub the model's error is a fifth below the better naive
// forecast's.
func TestForecast_BeatsNaiveOnPJM(t *testing.T) {
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	data, err := os.ReadFile(filepath.Join(root, "data", "lmp", "pjm_n_illinois_hub_rt_2018_mar_jun.csv"))
	if err != nil {
		t.Fatal(err)
	}
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	all, bad, err := readAll(data, market.Options{Node: "N ILLINOIS HUB", Location: chicago})
	if err != nil || len(bad) > 0 || len(all) != 1 || all[0].Kind != market.RealTime || len(all[0].Points()) != 2928 {
		t.Fatalf("read %d series, %v, %v", len(all), bad, err)
	}
	model, yesterday, lastWeek := backtest(t, all[0].Points(), chicago)
	t.Logf("mean absolute error over a day, $/MWh: model %.2f, yesterday %.2f, last week %.2f", model*1000, yesterday*1000, lastWeek*1000)
	if model > 0.8*min(yesterday, lastWeek) {
		t.Errorf("model %.5f, yesterday %.5f, last week %.5f $/kWh", model, yesterday, lastWeek)
	}
}

// The same applies to a synthetic market with noise and spikes.
func TestForecast_BeatsNaiveOnNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	var points []market.Point
	for i := range 90 * 24 {
		at := instant("2026-01-01T00:00:00Z").Add(time.Duration(i) * time.Hour)
		price := 0.03 + 0.02*math.Sin(float64(at.Hour()-9)/24*2*math.Pi) + 0.008*random.NormFloat64()
		if random.IntN(100) == 0 {
			price += 0.2
		}
		points = append(points, market.Point{Start: at, Price: price})
	}
	model, yesterday, lastWeek := backtest(t, points, nil)
	if model > 0.85*min(yesterday, lastWeek) {
		t.Errorf("model %.5f, yesterday %.5f, last week %.5f $/kWh", model, yesterday, lastWeek)
	}
}

func BenchmarkAt(b *testing.B) {
	var prices []float64
	for i := range 60 * 24 {
		prices = append(prices, 0.01*float64(i%24))
	}
	s := series(b, time.Hour, prices...)
	from, end := s.Span()
	for name, at := range map[string]int64{"published": from.Unix() + 86400, "forecast": end.Unix() + 86400} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.At(at)
			}
		})
	}
}
