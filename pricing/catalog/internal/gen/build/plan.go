// Package build makes the plans of package catalog from their sources: the
// open-energy-tariffs collection, PG&E's tariff sheets, and plans written by hand. Only
// the generator uses it, never the service.
package build

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/gridhook/gridhook/pricing/catalog"
)

// Plan is a residential rate plan without its URDB. All rates are totals of generation and
// delivery, in $/kWh. Riders, if any, are added to the rates.
type Plan struct {
	catalog.Plan
	Label     string // of the rate database; empty if the source is a tariff sheet
	StartDate string // first day in force; empty if the source has none
	terms

	// Earlier are the earlier versions, oldest first.
	Earlier []Plan
}

// urdbRate is a rate of the US Utility Rate Database with the additional fields of
// urdb.Parse.
type urdbRate struct {
	Label     string `json:"label"`
	Utility   string `json:"utility"`
	EIAID     int    `json:"eiaid"`
	Name      string `json:"name"`
	Sector    string `json:"sector"`
	StartDate string `json:"startdate,omitempty"`
	Source    string `json:"source"`
	terms
	Caveat     string `json:"caveat,omitempty"`
	SourceDate string `json:"sourcedate,omitempty"`
	Newer      string `json:"newer,omitempty"`
}

// terms are the fields that a plan and its rate have in the same form.
type terms struct {
	DGRules               string       `json:"dgrules,omitempty"`
	FixedChargeFirstMeter float64      `json:"fixedchargefirstmeter,omitempty"`
	FixedChargeUnits      string       `json:"fixedchargeunits,omitempty"`
	EnergyRateStructure   [][]urdbTier `json:"energyratestructure"`
	EnergyTOULabels       []string     `json:"energytoulabels"`
	EnergyWeekdaySchedule [12][]int    `json:"energyweekdayschedule"`
	EnergyWeekendSchedule [12][]int    `json:"energyweekendschedule"`
	// Holidays are the US federal holidays with weekend prices, by name. Observed is
	// "monday" if a holiday on a Saturday is not moved to Friday.
	Holidays     []string    `json:"holidays,omitempty"`
	Observed     string      `json:"holidaysobserved,omitempty"`
	ExportValues string      `json:"exportvalues,omitempty"`
	Riders       []urdbRider `json:"riders,omitempty"`
	// NonBypassable is the part of every rate that net metering does not credit, $/kWh.
	NonBypassable float64 `json:"nonbypassable,omitempty"`
	// Baseline is the allowance by month, kWh a day.
	Baseline []float64 `json:"baseline,omitempty"`
	// Confidence is the confidence in the rates by month, 0 to 1; nil means full
	// confidence.
	Confidence []float64 `json:"confidence,omitempty"`
}

type urdbTier struct {
	Max  float64 `json:"max,omitempty"`
	Rate float64 `json:"rate"`
	Adj  float64 `json:"adj,omitempty"`
	Unit string  `json:"unit"`
}

type urdbRider struct {
	Name     string  `json:"name"`
	Rate     float64 `json:"rate"`
	Credited bool    `json:"credited"`
}

// addPeriod adds a period and returns its index. The baseline credit, $/kWh, is subtracted
// from the rate up to the baseline allowance.
func (t *terms) addPeriod(name string, rate, baselineCredit float64) int {
	tiers := []urdbTier{{Rate: rate, Unit: "kWh"}}
	if baselineCredit != 0 {
		tiers = []urdbTier{{Max: 1, Rate: rate, Adj: -baselineCredit, Unit: "baseline"}, {Rate: rate, Unit: "baseline"}}
	}
	t.EnergyTOULabels, t.EnergyRateStructure = append(t.EnergyTOULabels, name), append(t.EnergyRateStructure, tiers)
	return len(t.EnergyTOULabels) - 1
}

// setMonth sets the period of each hour of a month, 1 is January.
func (t *terms) setMonth(month int, weekday, weekend []int) {
	t.EnergyWeekdaySchedule[month-1], t.EnergyWeekendSchedule[month-1] = weekday, weekend
}

// RateJSON returns the plan as a rate of the US Utility Rate Database. A plan with earlier
// versions has all versions within "items". The label is the database's label if the plan
// has one, and otherwise the plan's ID.
func (p *Plan) RateJSON() ([]byte, error) {
	var items []urdbRate
	for _, v := range append(slices.Clip(p.Earlier), *p) {
		items = append(items, urdbRate{
			cmp.Or(v.Label, v.ID), v.Utility, v.EIAID, v.Name, "Residential", v.StartDate, v.Source,
			v.terms, v.Caveat, v.SourceDate, v.Newer,
		})
	}
	if len(items) == 1 {
		return json.Marshal(items[0])
	}
	return json.Marshal(map[string]any{"items": items})
}
