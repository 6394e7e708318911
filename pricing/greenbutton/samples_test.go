package greenbutton_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/greenbutton"
)

// samples returns the folder of the samples.
func samples(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("GRIDHOOK_TESTDATA")
	if folder == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no files of utilities")
	}
	return filepath.Join(folder, "data", "greenbutton", "spec", "fixtures")
}

// The samples of two utilities and of the standard are read, or refused with the reason.
func TestRead_Samples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples(t), "*.xml"))
	if err != nil || len(files) != 25 {
		t.Fatalf("%d samples, %v, want 25", len(files), err)
	}
	want := map[string]string{
		"BulkSCEIntervalBlock.xml":                "97 of 15m0s from 2015-08-13: 24.380 kWh in 2015-08",
		"BulkSCEUsageSummaryAndIntervalBlock.xml": `ReadingType/1101NB6WRU", with accumulationBehaviour 4 and 2, so the meaning of its readings is unknown`,
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

// PG&E delivers the readings and the summaries of a home apart. Its sample readings name no
// type, so the test adds one: mWh, the unit of the summaries. The readings cover two billing
// periods, and a part of a third.
func TestRead_UtilityTotals(t *testing.T) {
	var files string
	for _, name := range []string{"PGEIntervalBlock.xml", "PGEUsageSummaries.xml"} {
		text, err := os.ReadFile(filepath.Join(samples(t), name)) //nolint:gosec // test data
		if err != nil {
			t.Fatal(err)
		}
		files += string(text)
	}
	u, err := usage(files + readingType("mWh", 1, 72, -3))
	if err != nil {
		t.Fatal(err)
	}
	for _, period := range []struct {
		from               string
		days               int
		intervals, summary float64 // kWh
	}{{"2015-05-12", 30, 129.430, 128}, {"2015-06-11", 29, 146.555, 146}} {
		from, _ := time.ParseInLocation(time.DateOnly, period.from, zone(t, "America/Los_Angeles"))
		first, sum := int(from.Sub(u.Start)/time.Hour), 0.0
		for _, kwh := range u.KWh[first : first+24*period.days] {
			sum += kwh
		}
		if math.Abs(sum-period.intervals) > 0.001 || math.Abs(sum-period.summary) > 1+0.015*period.summary {
			t.Errorf("%s: %.3f kWh, want %.3f; the summary has %.0f", period.from, sum, period.intervals, period.summary)
		}
	}
	if _, err := usage(files + readingType("cWh", 1, 72, -2)); err == nil || !strings.Contains(err.Error(), "its UsageSummary") {
		t.Errorf("another unit than that of the summaries: %v", err)
	}
}

func describe(text []byte, t *testing.T) string {
	r, err := greenbutton.Read(bytes.NewReader(text))
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
	return fmt.Sprintf("%d of %s from %s: %.3f kWh in %s", len(u.KWh), u.Step, day, months[0].KWh, months[0].Month)
}
