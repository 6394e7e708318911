package climate_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing/climate"
)

func TestQuartersKeepTheHour(t *testing.T) {
	for _, y := range climate.All() {
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

func TestQuartersLieBetweenTheHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SampledFrom(climate.All()).Draw(t, "year")
		quarter := rapid.IntRange(-climate.Quarters, 2*climate.Quarters).Draw(t, "quarter")
		hour := int(math.Floor(float64(quarter) / 4))
		before, after, q := y.Hour(hour-1), y.Hour(hour), y.Quarter(quarter)
		for _, v := range [][3]float64{
			{before.Temperature, q.Temperature, after.Temperature}, {before.Humidity, q.Humidity, after.Humidity}, {before.Wind, q.Wind, after.Wind},
		} {
			if v[1] < min(v[0], v[2])-1e-9 || v[1] > max(v[0], v[2])+1e-9 {
				t.Fatalf("%s, quarter %d: %v is not between %v and %v", y.Name, quarter, v[1], v[0], v[2])
			}
		}
		if q.DewPoint() > q.Temperature+1e-9 {
			t.Fatalf("dew point %v above %v", q.DewPoint(), q.Temperature)
		}
	})
}

func TestDewPoint(t *testing.T) {
	for _, c := range []struct{ temperature, humidity, want float64 }{
		{25, 50, 13.9}, {20, 100, 20}, {0, 80, -3}, {35, 20, 8.7},
	} {
		w := climate.Weather{Temperature: c.temperature, Humidity: c.humidity}
		if got := w.DewPoint(); math.Abs(got-c.want) > 0.15 {
			t.Errorf("%v C and %v %%: %.2f, want %v", c.temperature, c.humidity, got, c.want)
		}
	}
}

func TestIndexFollowsTheSun(t *testing.T) {
	chicago := climate.Nearest(41.98, -87.92)
	for _, c := range []struct {
		instant string
		lon     float64
		want    int
	}{
		{"2025-01-01T06:00:00Z", -87.92, 0},
		{"2025-01-01T05:59:59Z", -87.92, climate.Quarters - 1},
		{"2025-03-01T06:00:00Z", -87.92, 59 * 96},
		{"2024-02-29T06:00:00Z", -87.92, 58 * 96}, // as the 28th
		{"2024-03-01T06:00:00Z", -87.92, 59 * 96},
		{"2024-12-31T18:00:00Z", -87.92, 364*96 + 48},
		{"2025-01-01T06:00:00Z", -87.92 + 15, 4},                // one hour further east the sun is one hour ahead
		{"2025-07-01T06:00:00+00:00", -87.92 - 7.5, 181*96 - 2}, // and half an hour behind in the west
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

func TestTheSunIsHighestAroundNoon(t *testing.T) {
	for _, y := range climate.All() {
		var weighted, sum float64
		for quarter := range climate.Quarters {
			sun := y.Quarter(quarter).GHI
			weighted, sum = weighted+sun*(float64(quarter%96)+0.5)/4, sum+sun
		}
		// Mean solar noon of the station on its clock of standard time.
		noon := 12 + y.Offset.Hours() - y.Lon/15
		if y.State == "HI" {
			noon -= 0.7 // the source has Honolulu's sun that much ahead: SOURCES.md
		}
		if got := weighted / sum; math.Abs(got-noon) > 0.25 {
			t.Errorf("%s: the middle of the sunshine is %.2f h, solar noon %.2f h", y.Name, got, noon)
		}
	}
}

func TestSeriesIsAtForEachQuarter(t *testing.T) {
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
			if want := y.At(start.Add(time.Duration(i)*15*time.Minute), lon); got != want {
				t.Fatalf("quarter %d: %+v, want %+v", i, got, want)
			}
		}
	})
}

func BenchmarkSeriesOfAYear(b *testing.B) {
	y := climate.Nearest(41.98, -87.92)
	start := time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC)
	for b.Loop() {
		y.Series(start, climate.Quarters, y.Lon)
	}
}
