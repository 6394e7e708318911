package climate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/climate"
)

// These are the yearly figures that the source prints beside its tables.
func TestYears_MatchSource(t *testing.T) {
	stated := map[string]struct{ sun, mean, low, high float64 }{
		"722780": {2094.2, 23.8, 2.2, 44.4}, "725650": {1670.2, 10.88, -19.4, 40}, "722590": {1784.2, 18.73, -11.7, 40},
		"722020": {1753.1, 24.51, 5, 35.6}, "726980": {1285.7, 12.24, -4.4, 37.8}, "724060": {1488.4, 13.21, -14.4, 35},
		"723860": {2032.2, 19.84, -3.3, 44.4}, "911820": {1953, 24.91, 13.3, 33.3}, "727450": {1342.3, 4.02, -30.6, 32.8},
		"723140": {1631.8, 15.99, -7.2, 35.6}, "722190": {1685.9, 16.65, -12.8, 36.7}, "725280": {1359, 9.05, -18.9, 31.7},
		"722950": {1824.6, 16.84, 5.6, 32.2}, "725300": {1406.6, 9.99, -22.8, 35},
	}
	found := 0
	for _, y := range climate.All() {
		want, ok := stated[y.Station]
		if !ok {
			continue
		}
		found++
		sun, mean, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
		for hour := range climate.Hours {
			w := y.Hour(hour)
			sun += w.GHI / 1000
			mean += w.Temperature / climate.Hours
			low, high = min(low, w.Temperature), max(high, w.Temperature)
			if w.Wind < 0 || w.GHI < 0 || w.DNI < 0 || w.DHI < 0 || w.GHI > 1300 {
				t.Fatalf("%s, hour %d: %+v", y.Name, hour, w)
			}
		}
		if math.Abs(sun-want.sun) > 0.5 || math.Abs(mean-want.mean) > 0.006 || math.Abs(low-want.low) > 1 || math.Abs(high-want.high) > 1 {
			t.Errorf("%s: %.1f kWh/m2, mean %.2f, %.1f to %.1f; want %+v", y.Name, sun, mean, low, high, want)
		}
	}
	if found != len(stated) {
		t.Errorf("%d of %d stations", found, len(stated))
	}
}

// Every embedded year has the degree days and the sunshine of the source's index.
func TestYears_AllMatchSource(t *testing.T) {
	source := index(t)
	for _, y := range climate.All() {
		want, ok := source[y.Station]
		if !ok || y.HeatingDegreeDays != want.Heating || y.CoolingDegreeDays != want.Cooling || y.Lat != want.Lat || y.Lon != want.Lon {
			t.Errorf("%s: %+v, want %+v", y.Name, y, want)
			continue
		}
		heating, cooling, sun := 0.0, 0.0, 0.0
		for day := range climate.Hours / 24 {
			mean := 0.0
			for hour := range 24 {
				w := y.Hour(24*day + hour)
				mean += (w.Temperature*1.8 + 32) / 24
				sun += w.GHI / 1000
			}
			heating, cooling = heating+max(65-mean, 0), cooling+max(mean-65, 0)
		}
		near := func(got, want float64) bool { return math.Abs(got-want) <= max(0.01*want, 12) }
		if !near(heating, want.Heating) || !near(cooling, want.Cooling) || math.Abs(sun/want.Sun-1) > 0.001 {
			t.Errorf("%s: %.0f and %.0f degree days, %.1f kWh/m2; want %+v", y.Name, heating, cooling, sun, want)
		}
	}
}

// listed is a station of the source's index.
type listed struct {
	ID, State string
	Lat, Lon  float64
	Elevation float64 `json:"elev_m"`
	Heating   float64 `json:"hdd65f"`
	Cooling   float64 `json:"cdd65f"`
	Sun       float64 `json:"ghi_kwh_m2_yr"`
}

// index returns the source's index by station.
func index(t *testing.T) map[string]listed {
	t.Helper()
	stations := map[string]listed{}
	for line := range strings.Lines(string(testdata(t, "weather", "tmy3", "index.ndjson"))) {
		var s listed
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		stations[s.ID] = s
	}
	return stations
}

// testdata returns a file of the shared data, which is not part of this repository.
func testdata(t *testing.T, path ...string) []byte {
	t.Helper()
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no tables")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{root, "data"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ExampleChoose() {
	c := climate.Choose(climate.Place{Lat: 41.88, Lon: -87.63, State: "IL", County: "Cook"}) // Chicago's Loop
	fmt.Printf("%s, %s: %.0f km away, in zone %s\n", c.Name, c.State, c.Km, c.Zone)
	// Output: Chicago Midway Ap, IL: 15 km away, in zone 5A
}
