package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing/catalog/internal/sheet"
)

//go:embed pge.json
var pgeJSON []byte

// unbypassable are the components that PG&E charges on every drawn kWh, regardless of
// exported energy. Source: Schedule NEM2, special condition 2, and the wildfire hardening
// charge.
var unbypassable = map[string]bool{
	"public purpose programs": true, "nuclear decommissioning": true, "competition transition charges": true,
	"wildfire fund charge": true, "wildfire hardening": true,
}

// sheetPlans returns the plans from PG&E's sheets. A schedule with a baseline allowance
// has one plan for each baseline territory.
var sheetPlans = sync.OnceValue(func() []Plan {
	var s sheet.Sheets
	if err := json.Unmarshal(pgeJSON, &s); err != nil {
		panic(fmt.Sprintf("catalog: embedded pge.json: %v", err)) // the tests read every plan
	}
	var plans []Plan
	for _, schedule := range s.Schedule {
		if schedule.Versions[0].Credit == 0 {
			plans = append(plans, sheetPlan(&s, schedule, ""))
			continue
		}
		for _, territory := range slices.Sorted(maps.Keys(s.Baseline)) {
			plans = append(plans, sheetPlan(&s, schedule, territory))
		}
	}
	return plans
})

// sheetPlan returns a schedule's plan with all its versions.
func sheetPlan(s *sheet.Sheets, schedule sheet.Schedule, territory string) Plan {
	var versions []Plan
	for i := range schedule.Versions {
		p := sheetVersion(&schedule.Versions[i])
		p.Utility, p.EIAID, p.State, p.Timezone, p.Holidays = s.Utility, s.EIAID, s.State, s.Timezone, s.Holidays
		p.ID, p.Name = "pge-"+strings.ToLower(schedule.Name), schedule.Name
		if territory != "" {
			p.ID += "-" + strings.ToLower(territory)
			p.Name += " (territory " + territory + ")"
			p.Baseline = allowances(s.Baseline[territory])
		}
		versions = append(versions, p)
	}
	newest := versions[len(versions)-1]
	newest.Earlier = versions[:len(versions)-1]
	return newest
}

func allowances(b sheet.Baseline) []float64 {
	months := slices.Repeat([]float64{b.Winter}, 12)
	for month := 5; month <= 8; month++ {
		months[month] = b.Summer
	}
	return months
}

// sheetVersion returns the prices and hours of one version.
func sheetVersion(v *sheet.Version) Plan {
	p := Plan{Summary: Summary{Source: v.Source}, EffectiveFrom: v.From, SourceDate: v.From, ExportRules: "Net Billing Hourly", ExportValues: "PG&E NBT26"}
	if v.FixedDaily != 0 {
		p.FixedCharge = Charge{Amount: v.FixedDaily, Unit: "$/day"}
	}
	for _, r := range v.Riders {
		p.Riders = append(p.Riders, Rider{Name: r.Name, Rate: r.Rate, Uncredited: unbypassable[r.Name]})
	}
	p.season("winter", []int{1, 2, 3, 4, 5, 10, 11, 12}, v.Winter, v)
	p.season("summer", []int{6, 7, 8, 9}, v.Summer, v)
	return p
}

// season adds a season and its periods.
func (p *Plan) season(name string, months []int, prices sheet.Season, v *sheet.Version) {
	s := Season{Months: months, Weekday: map[string]string{}}
	add := func(period string, rate float64) string {
		p.Periods = append(p.Periods, Period{Name: name + " " + period, Rate: rate, BaselineCredit: v.Credit})
		return name + " " + period
	}
	off := add("off", prices.OffPeak)
	day := slices.Repeat([]string{off}, hoursADay)
	if len(v.PartPeak) > 0 {
		fillHours(day, v.PartPeak, add("part", prices.PartPeak))
	}
	if len(v.Peak) > 0 {
		fillHours(day, v.Peak, add("peak", prices.Peak))
	}
	s.Weekday = spans(day)
	if v.WeekdaysOnly {
		s.Weekend = spans(slices.Repeat([]string{off}, hoursADay))
	}
	p.Seasons = append(p.Seasons, s)
}

func fillHours(day []string, ranges [][2]int, name string) {
	for _, r := range ranges {
		for hour := r[0]; hour < r[1]; hour++ {
			day[hour] = name
		}
	}
}

// spans returns the periods of a day by hours such as "16-21".
func spans(day []string) map[string]string {
	hours := map[string]string{}
	for from := 0; from < len(day); {
		to := from
		for to < len(day) && day[to] == day[from] {
			to++
		}
		hours[fmt.Sprintf("%02d-%02d", from, to)] = day[from]
		from = to
	}
	return hours
}
