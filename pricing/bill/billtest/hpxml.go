// Package billtest has the published bills of OpenStudio-HPXML and of SAM for the tests of
// the engine, the operation and the command. Only tests import it.
package billtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

// Case is a published bill, in US dollars, with its inputs.
type Case struct {
	Name       string
	LoadColumn string  `json:"load_column"`
	RateFile   string  `json:"rate_file"` // a path
	PVKW       float64 `json:"pv_kw"`
	PVColumn   string  `json:"pv_column"`
	Metering   string
	FeedIn     float64 `json:"feed_in_tariff_rate"`
	Sellback   string  `json:"annual_excess_sellback"`
	SellRate   float64 `json:"annual_excess_sellback_rate"`
	FeePerKW   float64 `json:"pv_monthly_grid_fee_per_kw"`
	Fee        float64 `json:"pv_monthly_grid_fee"`
	Expected   struct {
		Fixed, Energy float64
		Credit        float64 `json:"pv_credit"`
	} `json:"expected_usd"`
	Tolerance float64 `json:"tolerance_usd"`

	// Rate is the text of the rate file. Load and Generated are the kWh of each hour of
	// 2007. Generated is nil without solar.
	Rate            []byte    `json:"-"`
	Load, Generated []float64 `json:"-"`
}

// HPXML returns all published cases. It skips the test if GRIDHOOK_TESTDATA is not set.
func HPXML(t testing.TB) []Case {
	t.Helper()
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: the published data is not at hand")
	}
	root = filepath.Join(root, "data", "oracles", "hpxml_bills")
	var cases []Case
	if err := json.Unmarshal(read(t, root, "cases.json"), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 55 {
		t.Fatalf("%d cases, want 55", len(cases))
	}
	columns := readColumns(t, filepath.Join(root, "data.csv"))
	for i := range cases {
		c := &cases[i]
		if c.RateFile == "" { // the charges of the sample flat rate
			c.RateFile = "Sample Flat Rate.json"
		}
		c.RateFile = filepath.Join(root, "rates", c.RateFile)
		c.Rate = read(t, c.RateFile)
		c.Load, c.Generated = columns[c.LoadColumn], columns[c.PVColumn]
		if len(c.Load) != 8760 || (c.PVColumn != "") != (len(c.Generated) == 8760) {
			t.Fatalf("%s: %d hours of load, %d of generation", c.Name, len(c.Load), len(c.Generated))
		}
	}
	return cases
}

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...)) //nolint:gosec // the published data
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readColumns reads the hourly series by their headings.
func readColumns(t testing.TB, path string) map[string][]float64 {
	t.Helper()
	rows, err := pack.Table(path)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for i, name := range rows[0] {
		if i == 0 {
			continue // the time
		}
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}
