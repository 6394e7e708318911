package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing/catalog/internal/sheet"
)

// component is a schedule of PG&E in the collection.
type component struct {
	Tariff    string `json:"tariff"`
	Effective string `json:"effective"`
	Advice    string `json:"advice_letter"`
	Source    string `json:"source_url"`
	Periods   struct {
		Peak         [][2]int `json:"peak"`
		PartPeak     [][2]int `json:"part_peak"`
		WeekdaysOnly bool     `json:"peak_weekdays_only"`
	} `json:"periods"`
	Energy   map[string]map[string]map[string]float64 `json:"energy"`
	Adders   map[string]float64                       `json:"adders"`
	Baseline struct {
		Credit     float64                                  `json:"credit"`
		Quantities map[string]map[string]map[string]float64 `json:"quantities"`
	} `json:"baseline"`
	Fixed map[string]any `json:"base_services_charge"`
}

// pgeSheets writes PG&E's schedules in the compact form.
func pgeSheets(dir, name string) error {
	text, err := os.ReadFile(filepath.Join(dir, "data", "tariffs", "pge_residential_2025_2026.json")) //nolint:gosec // the directory is the operator's own
	if err != nil {
		return err
	}
	var file struct {
		Tariffs []component `json:"tariffs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	sheets := sheet.Sheets{
		Comment: []string{
			"PG&E residential schedules by component, from the tariff sheets through eman/tariffkit c446907 (MIT).",
			"The fixed charge is that of the income tier without a discount; allowances are those of homes not all electric.",
			"Written by go generate; do not edit.",
		},
		Utility: "Pacific Gas & Electric Co", EIAID: 14328, State: "CA", Timezone: "America/Los_Angeles",
		Holidays: []string{"New Year's Day", "Presidents' Day", "Memorial Day", "Independence Day", "Labor Day", "Veterans Day", "Thanksgiving", "Christmas"},
		Baseline: map[string]sheet.Baseline{},
	}
	slices.SortStableFunc(file.Tariffs, func(a, b component) int { return strings.Compare(a.Tariff+a.Effective, b.Tariff+b.Effective) })
	for _, c := range file.Tariffs {
		for territory, q := range c.Baseline.Quantities["basic"] {
			sheets.Baseline[territory] = sheet.Baseline{Summer: q["summer"], Winter: q["winter"]}
		}
		last := len(sheets.Schedule) - 1
		if last < 0 || sheets.Schedule[last].Name != c.Tariff {
			sheets.Schedule = append(sheets.Schedule, sheet.Schedule{Name: c.Tariff})
			last++
		}
		sheets.Schedule[last].Versions = append(sheets.Schedule[last].Versions, c.version())
	}
	packed, err := json.MarshalIndent(sheets, "", " ")
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d schedules, %d bytes\n", name, len(sheets.Schedule), len(packed))
	return os.WriteFile(name, append(packed, '\n'), 0o600)
}

func (c *component) version() sheet.Version {
	v := sheet.Version{
		From: c.Effective, Source: fmt.Sprintf("PG&E Schedule %s, advice letter %s, %s", c.Tariff, c.Advice, c.Source),
		Peak: c.Periods.Peak, PartPeak: c.Periods.PartPeak, WeekdaysOnly: c.Periods.WeekdaysOnly,
		Summer: season(c.Energy["summer"]), Winter: season(c.Energy["winter"]), Credit: c.Baseline.Credit,
	}
	v.FixedDaily, _ = c.Fixed["tier_3"].(float64)
	for name, rate := range c.Adders {
		if rate != 0 {
			v.Riders = append(v.Riders, sheet.Rider{Name: strings.ReplaceAll(name, "_", " "), Rate: rate})
		}
	}
	slices.SortFunc(v.Riders, func(a, b sheet.Rider) int { return strings.Compare(a.Name, b.Name) })
	return v
}

func season(periods map[string]map[string]float64) sheet.Season {
	total := func(name string) float64 {
		sum := 0.0
		for _, part := range periods[name] {
			sum += part
		}
		return math.Round(sum*1e5) / 1e5
	}
	return sheet.Season{Peak: total("peak"), PartPeak: total("part_peak"), OffPeak: total("off_peak")}
}
