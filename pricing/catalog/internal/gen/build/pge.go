package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing/catalog"
)

// component is a version of a schedule of PG&E in the collection.
type component struct {
	Tariff    string `json:"tariff"`
	Effective string `json:"effective"`
	Advice    string `json:"advice_letter"`
	Source    string `json:"source_url"`
	Periods   struct {
		Peak         [][2]int `json:"peak"` // hours, the last excluded
		PartPeak     [][2]int `json:"part_peak"`
		WeekdaysOnly bool     `json:"peak_weekdays_only"`
	} `json:"periods"`
	// Energy has the parts of each price by season and period.
	Energy   map[string]map[string]map[string]float64 `json:"energy"`
	Adders   map[string]float64                       `json:"adders"`
	Baseline struct {
		Credit     float64                                  `json:"credit"`
		Quantities map[string]map[string]map[string]float64 `json:"quantities"`
	} `json:"baseline"`
	Fixed map[string]any `json:"base_services_charge"`
}

// unbypassable are the components that PG&E charges on every drawn kWh, regardless of
// exported energy. Source: Schedule NEM2, special condition 2, and the wildfire hardening
// charge.
var unbypassable = map[string]bool{
	"public purpose programs": true, "nuclear decommissioning": true, "competition transition charges": true,
	"wildfire fund charge": true, "wildfire hardening": true,
}

// pgeSheets returns the plans of PG&E's schedules. A schedule with a baseline allowance has
// one plan for each baseline territory.
func pgeSheets(text []byte) (plans []Plan, err error) {
	var file struct {
		Tariffs []component `json:"tariffs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	slices.SortStableFunc(file.Tariffs, func(a, b component) int { return strings.Compare(a.Tariff+a.Effective, b.Tariff+b.Effective) })
	allowances := map[string]map[string]float64{} // by territory and season, kWh a day
	for _, c := range file.Tariffs {
		maps.Copy(allowances, c.Baseline.Quantities["basic"])
	}
	for rest := file.Tariffs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Tariff == rest[0].Tariff {
			n++
		}
		territories := []string{""}
		if rest[0].Baseline.Credit != 0 {
			territories = slices.Sorted(maps.Keys(allowances))
		}
		for _, territory := range territories {
			plans = append(plans, pgePlan(rest[:n], territory, allowances[territory]))
		}
		rest = rest[n:]
	}
	return plans, nil
}

// pgePlan returns a schedule's plan with all its versions, for the homes of a territory.
func pgePlan(schedule []component, territory string, allowance map[string]float64) Plan {
	var versions []Plan
	for i := range schedule {
		p := schedule[i].version()
		if territory != "" {
			p.ID += "-" + strings.ToLower(territory)
			p.Name += " (territory " + territory + ")"
			for month := 1; month <= 12; month++ {
				p.Baseline = append(p.Baseline, allowance[pgeSeason(month)])
			}
		}
		versions = append(versions, p)
	}
	newest := versions[len(versions)-1]
	newest.Earlier = versions[:len(versions)-1]
	return newest
}

// pgeSeason returns the season of a month.
func pgeSeason(month int) string {
	if month >= 6 && month <= 9 {
		return "summer"
	}
	return "winter"
}

// version returns the prices and hours of one version. The fixed charge is for the
// income tier without a discount. The allowances apply to homes that are not all electric.
func (c *component) version() Plan {
	p := Plan{StartDate: c.Effective, Plan: catalog.Plan{SourceDate: c.Effective, Summary: catalog.Summary{
		ID: "pge-" + strings.ToLower(c.Tariff), Name: c.Tariff, Utility: "Pacific Gas & Electric Co", EIAID: 14328, State: "CA", Timezone: "America/Los_Angeles",
		Source: fmt.Sprintf("PG&E Schedule %s, advice letter %s, %s", c.Tariff, c.Advice, c.Source),
	}}}
	p.DGRules, p.ExportValues = "Net Billing Hourly", "PG&E NBT26"
	p.Holidays = []string{"New Year's Day", "Presidents' Day", "Memorial Day", "Independence Day", "Labor Day", "Veterans Day", "Thanksgiving", "Christmas"}
	if daily, _ := c.Fixed["tier_3"].(float64); daily != 0 {
		p.FixedChargeFirstMeter, p.FixedChargeUnits = daily, "$/day"
	}
	for _, key := range slices.Sorted(maps.Keys(c.Adders)) {
		name := strings.ReplaceAll(key, "_", " ")
		if rate := c.Adders[key]; rate != 0 {
			p.Riders = append(p.Riders, urdbRider{Name: name, Rate: rate, Credited: !unbypassable[name]})
		}
	}
	for _, season := range []string{"winter", "summer"} {
		c.addSeason(&p, season)
	}
	return p
}

// addSeason adds the periods and hours of a season.
func (c *component) addSeason(p *Plan, name string) {
	add := func(period, part string) int {
		total := 0.0
		for _, price := range c.Energy[name][part] {
			total += price
		}
		return p.addPeriod(name+" "+period, math.Round(total*1e5)/1e5, c.Baseline.Credit)
	}
	weekend := slices.Repeat([]int{add("off", "off_peak")}, hoursADay)
	weekday := slices.Clone(weekend)
	if len(c.Periods.PartPeak) > 0 {
		fillHours(weekday, c.Periods.PartPeak, add("part", "part_peak"))
	}
	if len(c.Periods.Peak) > 0 {
		fillHours(weekday, c.Periods.Peak, add("peak", "peak"))
	}
	if !c.Periods.WeekdaysOnly {
		weekend = weekday
	}
	for month := 1; month <= 12; month++ {
		if pgeSeason(month) == name {
			p.setMonth(month, weekday, weekend)
		}
	}
}
