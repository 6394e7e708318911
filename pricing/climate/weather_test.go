package climate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing/climate"
)

func TestQuarters_HourMean(t *testing.T) {
	for i, y := range climate.All() {
		if i%5 != 0 {
			continue // one rule makes the quarters of every year
		}
		for hour := range climate.Hours {
			want := y.Hour(hour)
			var sun, beam, sky float64
			for part := range 4 {
				q := y.Quarter(4*hour + part)
				sun, beam, sky = sun+q.GHI/4, beam+q.DNI/4, sky+q.DHI/4
				if q.GHI < 0 || q.DNI < 0 || q.DHI < 0 {
					t.Fatalf("%s, hour %d: %+v", y.Name, hour, q)
				}
			}
			if math.Abs(sun-want.GHI) > 1e-9 || math.Abs(beam-want.DNI) > 1e-9 || math.Abs(sky-want.DHI) > 1e-9 {
				t.Fatalf("%s, hour %d: quarters have %v, %v, %v; the hour %+v", y.Name, hour, sun, beam, sky, want)
			}
		}
	}
}

func TestQuarters_BetweenHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SampledFrom(climate.All()).Draw(t, "year")
		quarter := rapid.IntRange(-climate.Quarters, 2*climate.Quarters).Draw(t, "quarter")
		hour := int(math.Floor(float64(quarter) / 4))
		before, after, q := y.Hour(hour-1), y.Hour(hour), y.Quarter(quarter)
		for _, v := range [][3]float64{
			{before.Temperature, q.Temperature, after.Temperature}, {before.Wind, q.Wind, after.Wind},
		} {
			if v[1] < min(v[0], v[2])-1e-9 || v[1] > max(v[0], v[2])+1e-9 {
				t.Fatalf("%s, quarter %d: %v is not between %v and %v", y.Name, quarter, v[1], v[0], v[2])
			}
		}
	})
}

func TestIndex_FollowsSun(t *testing.T) {
	chicago := climate.All()[slices.IndexFunc(climate.All(), func(y *climate.Year) bool { return y.Station == "725300" })]
	for _, c := range []struct {
		instant string
		lon     float64
		want    int
	}{
		{"2025-01-01T06:00:00Z", chicago.Lon, 0},
		{"2025-01-01T05:45:00Z", chicago.Lon, climate.Quarters - 1},
		{"2025-03-01T06:00:00Z", chicago.Lon, 59 * 96},
		{"2024-02-29T06:00:00Z", chicago.Lon, 58 * 96}, // as the 28th
		{"2024-03-01T06:00:00Z", chicago.Lon, 59 * 96},
		{"2024-12-31T18:00:00Z", chicago.Lon, 364*96 + 48},
		{"2025-01-01T06:00:00Z", chicago.Lon + 15, 4},                // one hour further east the sun is one hour ahead
		{"2025-07-01T06:00:00+00:00", chicago.Lon - 7.5, 181*96 - 2}, // and half an hour behind in the west
		{"2025-07-01T06:00:00Z", chicago.Lon - 0.1, 181 * 96},        // 24 s behind
		{"2025-07-01T06:00:00Z", chicago.Lon - 2.5, 181*96 - 1},      // ten minutes behind
		{"2025-07-01T06:00:00Z", chicago.Lon + 2.5, 181*96 + 1},
	} {
		instant, err := time.Parse(time.RFC3339, c.instant)
		if err != nil {
			t.Fatal(err)
		}
		if got := chicago.Index(instant, c.lon); got != c.want {
			t.Errorf("%s at %v: quarter %d, want %d", c.instant, c.lon, got, c.want)
		}
	}
}

// ahead is how many hours ahead the source has the sun of a station: see SOURCES.md.
var ahead = map[string]float64{"911820": 0.7, "702000": 0.83, "702610": 0.84}

func TestSun_HighestAtNoon(t *testing.T) {
	for _, y := range climate.All() {
		var weighted, sum float64
		for hour := range climate.Hours {
			sun := y.Hour(hour).GHI
			weighted, sum = weighted+sun*(float64(hour%24)+0.5), sum+sun
		}
		// This is the station's mean solar noon, in standard time.
		noon := 12 + y.Offset.Hours() - y.Lon/15
		noon -= ahead[y.Station]
		if got := weighted / sum; math.Abs(got-noon) > 0.45 {
			t.Errorf("%s: the middle of the sunshine is %.2f h, solar noon %.2f h", y.Name, got, noon)
		}
	}
}

func TestSeries_EqualsAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SampledFrom(climate.All()).Draw(t, "year")
		start := time.Unix(900*rapid.Int64Range(1_700_000, 2_100_000).Draw(t, "start"), 0)
		lon := rapid.Float64Range(-180, 180).Draw(t, "lon")
		n := rapid.IntRange(0, 300).Draw(t, "n")
		series := y.Series(start, n, lon)
		if len(series) != n {
			t.Fatalf("%d of %d", len(series), n)
		}
		for i, got := range series {
			if want := y.Quarter(y.Index(start.Add(time.Duration(i)*15*time.Minute), lon)); got != want {
				t.Fatalf("quarter %d: %+v, want %+v", i, got, want)
			}
		}
	})
}

func BenchmarkSeriesOfAYear(b *testing.B) {
	y := climate.Choose(climate.Place{Lat: 41.98, Lon: -87.92})
	start := time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC)
	for b.Loop() {
		y.Series(start, climate.Quarters, y.Lon)
	}
}
