package build

import (
	"cmp"
	"encoding/json"
	"slices"
)

// urdbRate holds the fields of a rate of the US Utility Rate Database that a plan sets,
// and the additional fields of urdb.Parse.
type urdbRate struct {
	Label                 string       `json:"label"`
	Utility               string       `json:"utility"`
	EIAID                 int          `json:"eiaid"`
	Name                  string       `json:"name"`
	Sector                string       `json:"sector"`
	StartDate             string       `json:"startdate,omitempty"`
	Source                string       `json:"source"`
	DGRules               string       `json:"dgrules,omitempty"`
	FixedChargeFirstMeter float64      `json:"fixedchargefirstmeter,omitempty"`
	FixedChargeUnits      string       `json:"fixedchargeunits,omitempty"`
	EnergyRateStructure   [][]urdbTier `json:"energyratestructure"`
	EnergyTOULabels       []string     `json:"energytoulabels"`
	EnergyWeekdaySchedule [12][]int    `json:"energyweekdayschedule"`
	EnergyWeekendSchedule [12][]int    `json:"energyweekendschedule"`

	extras
	Caveat     string `json:"caveat,omitempty"`
	SourceDate string `json:"sourcedate,omitempty"`
	Newer      string `json:"newer,omitempty"`
}

// extras are additional fields of urdb.Parse that a plan has in the same form.
type extras struct {
	// Holidays are the US federal holidays with weekend prices, by name. Observed is
	// "monday" if a holiday on a Saturday is not moved to Friday.
	Holidays     []string    `json:"holidays,omitempty"`
	Observed     string      `json:"holidaysobserved,omitempty"`
	ExportValues string      `json:"exportvalues,omitempty"`
	Riders       []urdbRider `json:"riders,omitempty"`
	// NonBypassable is the part of every rate that net metering does not credit, $/kWh.
	NonBypassable float64 `json:"nonbypassable,omitempty"`
	// Baseline is the allowance by month, kWh a day. A period's BaselineCredit applies up
	// to it.
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

// URDB returns the plan as a rate of the US Utility Rate Database, in JSON. A plan with
// earlier versions has all versions within "items". The label is the database's label if
// the plan has one, and otherwise the plan's ID.
func (p Plan) URDB() ([]byte, error) {
	if len(p.Earlier) == 0 {
		return json.Marshal(p.urdb())
	}
	var items []urdbRate
	for _, version := range append(p.Earlier[:len(p.Earlier):len(p.Earlier)], p) {
		items = append(items, version.urdb())
	}
	return json.Marshal(map[string]any{"items": items})
}

// urdb returns one version.
func (p Plan) urdb() urdbRate {
	rate := urdbRate{
		Label:                 cmp.Or(p.URDBLabel, p.ID),
		Utility:               p.Utility,
		EIAID:                 p.EIAID,
		Name:                  p.Name,
		Sector:                "Residential",
		StartDate:             p.EffectiveFrom,
		Source:                p.Source,
		DGRules:               p.ExportRules,
		FixedChargeFirstMeter: p.FixedCharge.Amount,
		FixedChargeUnits:      p.FixedCharge.Unit,
		extras:                p.extras,
		Caveat:                p.Caveat,
		SourceDate:            p.SourceDate,
		Newer:                 p.Newer,
	}
	index := map[string]int{}
	for i, period := range p.Periods {
		index[period.Name] = i
		rate.EnergyTOULabels = append(rate.EnergyTOULabels, period.Name)
		rate.EnergyRateStructure = append(rate.EnergyRateStructure, period.tiers())
	}
	for _, season := range p.Seasons {
		weekday := indexes(season.Weekday, index)
		weekend := weekday
		if season.Weekend != nil {
			weekend = indexes(season.Weekend, index)
		}
		for _, month := range season.Months {
			rate.EnergyWeekdaySchedule[month-1] = weekday
			rate.EnergyWeekendSchedule[month-1] = weekend
		}
	}
	return rate
}

// tiers returns the tiers of a period. A period with a baseline credit has two tiers,
// below and above the baseline. Other periods have one tier.
func (p Period) tiers() []urdbTier {
	if p.BaselineCredit == 0 {
		return []urdbTier{{Rate: p.Rate, Unit: "kWh"}}
	}
	return []urdbTier{{Max: 1, Rate: p.Rate, Adj: -p.BaselineCredit, Unit: "baseline"}, {Rate: p.Rate, Unit: "baseline"}}
}

// indexes returns the index of the period of each hour. An uncovered hour or an unknown
// period is -1. Every reader of the schedule rejects -1.
func indexes(names []string, index map[string]int) []int {
	day := slices.Repeat([]int{-1}, hoursADay)
	for hour, name := range names {
		if period, ok := index[name]; ok {
			day[hour] = period
		}
	}
	return day
}
