package greenbutton_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/greenbutton"
)

// The samples of two utilities and of the standard are read, or refused with the reason.
func TestRead_Samples(t *testing.T) {
	folder := os.Getenv("GRIDHOOK_TESTDATA")
	if folder == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set")
	}
	files, err := filepath.Glob(filepath.Join(folder, "data", "greenbutton", "spec", "fixtures", "*.xml"))
	if err != nil || len(files) != 25 {
		t.Fatalf("%d samples, %v, want 25", len(files), err)
	}
	want := map[string]string{
		"BulkSCEIntervalBlock.xml":                "97 of 15m0s from 2015-08-13: 24.380 kWh in 2015-08",
		"BulkSCEUsageSummaryAndIntervalBlock.xml": "two ReadingTypes with the address",
		"PGEUsageSummaries.xml":                   "usage summaries and no readings of energy in Wh",
		"PGEIntervalBlock.xml":                    "names no ReadingType",
		"ESPIIntervalBlock.xml":                   "names no ReadingType",
	}
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // test data
		if err != nil {
			t.Fatal(err)
		}
		wanted := want[filepath.Base(name)]
		if wanted == "" {
			wanted = "no readings of energy in Wh" // types, customers or summaries alone
		}
		if got := describe(text, t); !strings.Contains(got, wanted) {
			t.Errorf("%s: %s, want %s", filepath.Base(name), got, wanted)
		}
	}
}

func describe(text []byte, t *testing.T) string {
	r, err := greenbutton.Read(text)
	if err != nil {
		return err.Error()
	}
	u, err := r.Usage()
	if err != nil {
		return err.Error()
	}
	day, err := u.Day()
	if err != nil {
		return err.Error()
	}
	months, err := r.Months(zone(t, "America/Los_Angeles"))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d of %s from %s: %.3f kWh in %s", len(u.KWh), u.Step, day, months[0].Drawn, months[0].Start.Format("2006-01"))
}
