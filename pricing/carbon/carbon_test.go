package carbon_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/carbon"
)

func TestRegion_County(t *testing.T) {
	for _, tt := range []struct{ state, county, want string }{
		{"CA", "San Francisco", "CA"}, {"CA", "Del Norte", "NW"}, {"ca", "del norte county", "NW"}, {"IL", "Cook", "MIDA"}, {"IL", "", "MIDW"},
		{"TX", "Dallas", "TE"}, {"TX", "El Paso", "SW"}, {"NY", "Kings", "NY"}, {"HI", "Honolulu", "HIOA"}, {"LA", "Orleans Parish", "MIDW"},
		{"TX", "No Such County", "TE"}, {"ZZ", "Cook", ""},
	} {
		r, ok := carbon.Of(tt.state, tt.county)
		switch {
		case ok != (tt.want != ""):
			t.Errorf("%s, %s: found %v", tt.state, tt.county, ok)
		case ok && r.Code != tt.want:
			t.Errorf("%s, %s: %s, want %s", tt.state, tt.county, r.Code, tt.want)
		}
	}
	if _, ok := carbon.Named("nowhere"); ok {
		t.Error("found an unknown region")
	}
}

func TestRates_Plausible(t *testing.T) {
	for _, code := range []string{"CA", "CENT", "FL", "MIDA", "MIDW", "NCSC", "NE", "NW", "NY", "RM", "SE", "SW", "TE", "TN", "AKGD", "HIMS", "HIOA"} {
		r, ok := carbon.Named(code)
		if !ok {
			t.Fatalf("no region %s", code)
		}
		for month := time.January; month <= time.December; month++ {
			for hour := range 24 {
				if rate := r.Rate(month, hour); rate < 0.4 || rate > 2.6 {
					t.Errorf("%s, %v %d:00: %v lb/kWh", code, month, hour, rate)
				}
			}
		}
	}
}

// The deviations are at even quantiles: a tolerance has the share of the quantiles below it, and
// between two of them the share on the line.
func TestWithin_Quantiles(t *testing.T) {
	r := carbon.Region{}
	for i := range r.Deviations {
		r.Deviations[i] = float64(2 * (i + 1))
	}
	for tolerance, want := range map[float64]float64{0: 0, 1: 0.02, 2: 0.05, 20: 0.5, 21: 0.52, 39.98: 0.99, 40: 1, 1000: 1} {
		if got := r.Within(tolerance); math.Abs(got-want) > 1e-12 {
			t.Errorf("within %v: %v, want %v", tolerance, got, want)
		}
	}
}

func TestIntensity_Cost(t *testing.T) {
	for intensity, want := range map[carbon.Intensity]float64{
		carbon.Low: 0, "": 0, "EXTREME": 0,
		carbon.Medium: 51 * 0.00045359237 * 1.5, carbon.High: 190 * 0.00045359237 * 1.5,
	} {
		if got := intensity.Cost(1.5); math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v $/kWh, want %v", intensity, got, want)
		}
	}
}

func readCSV(t *testing.T, name string) [][]string {
	t.Helper()
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	text, err := os.ReadFile(filepath.Join(root, "data", "carbon", name))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The embedded means equal the means of the published hours.
func TestRates_MatchPublishedHours(t *testing.T) {
	rows := readCSV(t, "avert_2023_co2_lb_per_kwh.csv")
	for column := 2; column < len(rows[0]); column++ {
		r, ok := carbon.Named(rows[0][column])
		if !ok {
			t.Fatalf("no region %s", rows[0][column])
		}
		sum, n := 0.0, 0
		start := time.Date(2023, time.January, 1, 0, 0, 0, 0, time.UTC)
		for hour, row := range rows[1:] {
			at := start.Add(time.Duration(hour) * time.Hour)
			if at.Month() != time.July || at.Hour() != 17 {
				continue
			}
			v, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
			n++
		}
		if got := r.Rate(time.July, 17); n != 31 || math.Abs(got-sum/31) > 0.0006 {
			t.Errorf("%s: %v lb/kWh, the mean of %d hours is %v", r.Code, got, n, sum/31)
		}
	}
}

func TestCounties_MatchPublished(t *testing.T) {
	for _, row := range readCSV(t, "county_avert_region.csv")[1:] {
		if r, ok := carbon.Of(row[0], row[1]); !ok || r.Code != row[2] {
			t.Errorf("%s, %s: want %s", row[1], row[0], row[2])
		}
	}
}
