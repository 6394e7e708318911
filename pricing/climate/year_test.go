package climate_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/climate"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		place    string
		lat, lon float64
		state    string
		km       float64 // at most
	}{
		{"Chicago", 41.9, -87.6, "IL", 40},
		{"Milwaukee", 43.0, -87.9, "IL", 130},
		{"San Francisco", 37.75, -122.4, "CA", 600},
		{"Tucson", 32.2, -110.9, "AZ", 200},
		{"Seattle", 47.6, -122.3, "OR", 250},
		{"Honolulu", 21.3, -157.9, "HI", 10},
		{"Houston", 29.8, -95.4, "TX", 400},
		{"Boston", 42.4, -71.1, "MD", 620},
		{"Anchorage", 61.2, -149.9, "OR", 2600},
	} {
		y := climate.Nearest(c.lat, c.lon)
		if d := y.DistanceKm(c.lat, c.lon); y.State != c.state || d > c.km {
			t.Errorf("%s: %s, %s at %.0f km", c.place, y.Name, y.State, d)
		}
	}
}

// The yearly figures are those that the source states beside its tables.
func TestYearsAreThoseOfTheSource(t *testing.T) {
	stated := map[string]struct{ sun, mean, low, high float64 }{
		"722780": {2094.2, 23.8, 2.2, 44.4}, "725650": {1670.2, 10.88, -19.4, 40}, "722590": {1784.2, 18.73, -11.7, 40},
		"722020": {1753.1, 24.51, 5, 35.6}, "726980": {1285.7, 12.24, -4.4, 37.8}, "724060": {1488.4, 13.21, -14.4, 35},
		"723860": {2032.2, 19.84, -3.3, 44.4}, "911820": {1953, 24.91, 13.3, 33.3}, "727450": {1342.3, 4.02, -30.6, 32.8},
		"723140": {1631.8, 15.99, -7.2, 35.6}, "722190": {1685.9, 16.65, -12.8, 36.7}, "725280": {1359, 9.05, -18.9, 31.7},
		"722950": {1824.6, 16.84, 5.6, 32.2}, "725300": {1406.6, 9.99, -22.8, 35},
	}
	years := climate.All()
	if len(years) != len(stated) {
		t.Fatalf("%d years", len(years))
	}
	for _, y := range years {
		want, ok := stated[y.Station]
		if !ok {
			t.Errorf("no figures for %s", y.Name)
			continue
		}
		sun, mean, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
		for hour := range climate.Hours {
			w := y.Hour(hour)
			sun += w.GHI / 1000
			mean += w.Temperature / climate.Hours
			low, high = min(low, w.Temperature), max(high, w.Temperature)
			if w.Humidity < 0 || w.Humidity > 100 || w.Wind < 0 || w.GHI < 0 || w.DNI < 0 || w.DHI < 0 || w.GHI > 1300 {
				t.Fatalf("%s, hour %d: %+v", y.Name, hour, w)
			}
		}
		if math.Abs(sun-want.sun) > 0.06 || math.Abs(mean-want.mean) > 0.006 || low != want.low || high != want.high {
			t.Errorf("%s: %.1f kWh/m2, mean %.2f, %.1f to %.1f; want %+v", y.Name, sun, mean, low, high, want)
		}
	}
}

// Every value of the tables must be in the embedded years to the last digit.
func TestTheEmbeddedYearsAreCurrent(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: the tables are not at hand")
	}
	read := 0
	for _, y := range climate.All() {
		files, err := filepath.Glob(filepath.Join(dir, "data", "weather", "*_"+strings.ToLower(y.State)+".csv"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %v, %v", y.State, files, err)
		}
		f, err := os.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for hour, row := range rows[1:] {
			w := y.Hour(hour)
			for i, got := range []float64{w.Temperature, w.Humidity, w.GHI, w.DNI, w.DHI, w.Wind} {
				if want, err := strconv.ParseFloat(row[i], 64); err != nil || math.Abs(got-want) > 1e-9 {
					t.Fatalf("%s, hour %d, %s: %v, want %s", y.Name, hour, rows[0][i], got, row[i])
				}
			}
		}
		read++
	}
	if read != 14 {
		t.Errorf("read %d tables", read)
	}
}

func ExampleNearest() {
	y := climate.Nearest(41.88, -87.63) // Chicago's Loop
	fmt.Printf("%s, %s: %.0f km away\n", y.Name, y.State, y.DistanceKm(41.88, -87.63))
	// Output: Chicago Ohare Intl Ap, IL: 26 km away
}
