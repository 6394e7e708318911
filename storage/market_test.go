package storage_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

const node = "TH_NP15_GEN-APND"

func dayAhead() storage.MarketSeries {
	m := storage.MarketSeries{Node: node, Market: market.DayAhead}
	m.OrganizationID = storage.Shared
	return m
}

// add adds prices and returns the change of each part as text.
func add(t *testing.T, s *storage.Store, m storage.MarketSeries, parts ...storage.PricesPart) string {
	t.Helper()
	changes, err := s.AddPrices(t.Context(), m, parts)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(fmt.Sprint(changes), "[]")
}

// stored returns a stored series with its prices.
func stored(t *testing.T, s *storage.Store, org string) (m storage.MarketSeries, prices *market.Series, revision uint64) {
	t.Helper()
	err := s.View(func(v storage.View) error {
		r, err := storage.FindShared(v, storage.MarketSeriesRef(org, market.DayAhead, node))
		if err != nil {
			return err
		}
		revision = r.Revision
		if m, err = storage.Decode[storage.MarketSeries](r); err != nil {
			return err
		}
		prices, err = m.Load(v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, prices, revision
}

func part(start time.Time, prices ...float64) storage.PricesPart {
	return storage.PricesPart{Start: start, Prices: prices}
}

func TestAddPrices_Changes(t *testing.T) {
	s, log, _, _ := newStore(t)
	day := storagetest.Start.Truncate(24 * time.Hour)
	nan := math.NaN()
	m := dayAhead()
	m.Timezone = "America/Los_Angeles"
	for i, step := range []struct {
		parts []storage.PricesPart
		want  string
	}{
		{[]storage.PricesPart{part(day, 0.01, 0.02), part(day, 0.01), part(day.Add(-24*time.Hour), 0.07)}, "created unchanged created"},
		{[]storage.PricesPart{part(day, 0.01, nan, 0.03412345)}, "created"},
		{[]storage.PricesPart{part(day, 0.01, 0.02, 0.03412345)}, "unchanged"},
		{[]storage.PricesPart{part(day, -0.01)}, "updated"},
	} {
		if got := add(t, s, m, step.parts...); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	got, prices, revision := stored(t, s, "org")
	if last, _ := log.Last(t.Context()); revision != last || last != 7 {
		t.Errorf("the series is at %d of %d, want a write with every change of its prices, and only then", revision, last)
	}
	if got.Timezone != m.Timezone || got.StepMinutes != 60 || got.Prices != 4 || !got.StartTime.Equal(day.Add(-24*time.Hour)) || !got.EndTime.Equal(day.Add(3*time.Hour)) {
		t.Errorf("the series is %+v", got)
	}
	var values []float64
	for _, p := range prices.Points() {
		values = append(values, p.Price)
	}
	if want := []float64{0.07, -0.01, 0.02, 0.03412345}; !slices.Equal(values, want) {
		t.Errorf("the prices are %v, want %v", values, want)
	}
	m.Timezone = "America/Denver"
	if add(t, s, m, part(day, -0.01)); mustSeries(t, s).Timezone != "America/Denver" {
		t.Error("a new time zone is not stored")
	}
}

func mustSeries(t *testing.T, s *storage.Store) storage.MarketSeries {
	t.Helper()
	m, _, _ := stored(t, s, "org")
	return m
}

func TestAddPrices_YearOfFiveMinutes(t *testing.T) {
	s, log, _, c := newStore(t)
	largest := 0
	log.Intercept(func(w storage.Write) error { largest = max(largest, len(w.Value)); return nil })
	m := dayAhead()
	m.StepMinutes = 5
	start := c.now.AddDate(-1, 0, 0)
	year := make([]float64, 365*24*12)
	for i := range year {
		year[i] = math.Round((0.03+0.02*math.Sin(float64(i)/40)+0.01*math.Sin(float64(i)*1.7))*1e8) / 1e8
	}
	add(t, s, m, part(start, year...))
	if _, prices, _ := stored(t, s, "org"); len(prices.Points()) != len(year) {
		t.Errorf("%d of %d prices are stored", len(prices.Points()), len(year))
	}
	if largest > 64<<10 {
		t.Errorf("a month takes %d bytes", largest)
	}
}

// TestAddPrices_DropsOld checks that prices too old for any signal are dropped, and
// that adding them again changes nothing.
func TestAddPrices_DropsOld(t *testing.T) {
	s, _, _, c := newStore(t)
	m, now := dayAhead(), c.now
	old := now.AddDate(-3, 0, 0)
	week := slices.Repeat([]float64{0.05}, 7*24)
	add(t, s, m, part(old, week...))
	rest := slices.Repeat([]float64{0.05}, 2*365*24)
	add(t, s, m, part(now.AddDate(0, 0, -2*365), rest...))
	got, _, revision := stored(t, s, "org")
	if got.Prices != len(rest) || got.StartTime.Before(now.AddDate(-2, 0, -1)) {
		t.Errorf("the series has %d prices from %v", got.Prices, got.StartTime)
	}
	if got := add(t, s, m, part(old, week...)); got != "unchanged" {
		t.Errorf("adding the old prices again: %s", got)
	}
	if _, _, again := stored(t, s, "org"); again != revision {
		t.Error("the old prices were written again")
	}
}

func TestAddPrices_Invalid(t *testing.T) {
	s, log, _, c := newStore(t)
	hour := c.now.Truncate(time.Hour)
	add(t, s, dayAhead(), part(hour, 0.01, 0.02))
	before, _ := log.Last(t.Context())
	for _, tt := range []struct {
		name   string
		change func(*storage.MarketSeries)
		part   storage.PricesPart
		wrong  string
	}{
		{"a node without a name", func(m *storage.MarketSeries) { m.Node = "" }, part(hour, 0.01), "node"},
		{"a node of signs", func(m *storage.MarketSeries) { m.Node = strings.Repeat("/", 64) }, part(hour, 0.01), "node"},
		{"no market", func(m *storage.MarketSeries) { m.Market = "" }, part(hour, 0.01), "market"},
		{"another step", func(m *storage.MarketSeries) { m.StepMinutes = 5 }, part(hour, 0.01), "stepMinutes"},
		{"an odd step", func(m *storage.MarketSeries) { m.Node, m.StepMinutes = "new", 7 }, part(hour, 0.01), "stepMinutes"},
		{"no time zone", func(m *storage.MarketSeries) { m.Timezone = "Mars" }, part(hour, 0.01), "timezone"},
		{"between steps", func(*storage.MarketSeries) {}, part(hour.Add(5*time.Minute), 0.01), "startTime"},
		{"years ahead", func(*storage.MarketSeries) {}, part(hour.AddDate(5, 0, 0), 0.01), "startTime"},
		{"an absurd price", func(*storage.MarketSeries) {}, part(hour, 0.01, 51), "prices[1]"},
		{"an infinite price", func(*storage.MarketSeries) {}, part(hour, math.Inf(1)), "prices[0]"},
		{"nothing", func(m *storage.MarketSeries) { m.Node = "new" }, part(hour), "prices"},
		{"a lonely hour", func(*storage.MarketSeries) {}, part(hour.AddDate(-1, 0, 0), 0.01), "prices"},
	} {
		m := dayAhead()
		tt.change(&m)
		_, err := s.AddPrices(t.Context(), m, []storage.PricesPart{tt.part})
		var invalid *storage.InvalidError
		errors.As(err, &invalid)
		if invalid == nil || invalid.Fields[0].Field != tt.wrong {
			t.Errorf("%s: %v, want a problem with %s", tt.name, err, tt.wrong)
		}
	}
	if after, _ := log.Last(t.Context()); after != before {
		t.Errorf("%d writes were made", after-before)
	}
}

func TestDelete_MarketSeriesSharedRemains(t *testing.T) {
	s, _, _, c := newStore(t)
	own := dayAhead()
	own.OrganizationID = "org"
	hour := c.now.Truncate(time.Hour)
	add(t, s, dayAhead(), part(hour, 0.01))
	add(t, s, own, part(hour, 0.09))
	if _, prices, _ := stored(t, s, "org"); prices.Points()[0].Price != 0.09 {
		t.Error("the organization's own series does not come first")
	}
	if err := s.Delete(t.Context(), storage.KindMarketSeries.Ref("org", mustSeries(t, s).ID)); err != nil {
		t.Fatal(err)
	}
	if _, prices, _ := stored(t, s, "org"); prices.Points()[0].Price != 0.01 {
		t.Error("after the deletion the shared series is not used")
	}
	_ = s.View(func(v storage.View) error {
		if n := v.Count(storage.KindMarketPrices, "org"); n != 0 {
			t.Errorf("%d months are left", n)
		}
		return nil
	})
	if err := s.Delete(t.Context(), storage.KindMarketSeries.Ref("org", "none")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an unknown series: %v", err)
	}
}

// TestDelete_DamagedMarketSeries checks that a series can be deleted whose record does not
// decode.
func TestDelete_DamagedMarketSeries(t *testing.T) {
	s, log, _, c := newStore(t)
	add(t, s, dayAhead(), part(c.now.Truncate(time.Hour), 0.01))
	ref := storage.KindMarketSeries.Ref(storage.Shared, mustSeries(t, s).ID)
	r, err := log.Read(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	log.Append(t.Context(), storage.Write{Ref: ref, Expect: r.Revision, Value: []byte(`[]`)})
	if err := s.Delete(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	_ = s.View(func(v storage.View) error {
		if n := v.Count(storage.KindMarketPrices, storage.Shared); n != 0 {
			t.Errorf("%d months are left", n)
		}
		return nil
	})
}

// TestMarketSeries_MatchesMap checks that a series stores the last price of each step,
// however the prices are split.
func TestMarketSeries_MatchesMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, _, _, c := newStore(t)
		start := c.now.Truncate(24 * time.Hour)
		want := map[time.Time]float64{}
		for range rapid.IntRange(1, 5).Draw(rt, "imports") {
			var parts []storage.PricesPart
			for range rapid.IntRange(1, 3).Draw(rt, "parts") {
				p := part(start.Add(time.Duration(rapid.IntRange(-40, 40).Draw(rt, "hour"))*time.Hour),
					rapid.SliceOfN(rapid.SampledFrom([]float64{math.NaN(), 0, 0.01, -0.02, 12.34567891}), 1, 8).Draw(rt, "prices")...)
				parts = append(parts, p)
				for i, price := range p.Prices {
					if !math.IsNaN(price) {
						want[p.Start.Add(time.Duration(i)*time.Hour)] = price
					}
				}
			}
			if len(want) > 0 {
				add(t, s, dayAhead(), parts...)
			}
		}
		if len(want) == 0 {
			return
		}
		_, prices, _ := stored(t, s, "org")
		got := map[time.Time]float64{}
		for _, p := range prices.Points() {
			got[p.Start] = p.Price
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestAddPrices_Retention checks that a series has the prices of its last two years and a day,
// and a record for each month of them, while it grows at either end.
func TestAddPrices_Retention(t *testing.T) {
	s, _, _, c := newStore(t)
	const retained = 731 * 24 * time.Hour
	now := c.now.Truncate(time.Hour)
	want := map[time.Time]float64{}
	for i, days := range []int{-1500, -1600, -1400, -900, -780, -400, -769, -30, 0, -760, 20} {
		p := part(now.AddDate(0, 0, days), slices.Repeat([]float64{float64(i) / 100}, 100)...)
		p.Prices[50] = math.NaN()
		for j, price := range p.Prices {
			if !math.IsNaN(price) {
				want[p.Start.Add(time.Duration(j)*time.Hour)] = price
			}
		}
		last := slices.MaxFunc(slices.Collect(maps.Keys(want)), time.Time.Compare)
		maps.DeleteFunc(want, func(at time.Time, _ float64) bool { return at.Before(last.Add(-retained)) })
		add(t, s, dayAhead(), p)
		got, months := map[time.Time]float64{}, map[string]bool{}
		series, prices, _ := stored(t, s, "org")
		for _, p := range prices.Points() {
			got[p.Start], months[p.Start.Format("2006-01")] = p.Price, true
		}
		if !maps.Equal(got, want) || series.Prices != len(want) {
			t.Fatalf("after day %d: %d prices, want %d", days, len(got), len(want))
		}
		_ = s.View(func(v storage.View) error {
			if n := v.Count(storage.KindMarketPrices, storage.Shared); n != len(months) {
				t.Errorf("after day %d: %d months are stored, want %d", days, n, len(months))
			}
			return nil
		})
	}
}
