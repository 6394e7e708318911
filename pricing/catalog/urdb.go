package catalog

import (
	"encoding/json"
	"fmt"
)

const hoursADay = 24

// urdbRate is the part of the US Utility Rate Database's rate that a plan fills,
// with what pricing.ParseURDB reads beside it.
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

	Holidays     []string    `json:"holidays,omitempty"`
	Observed     string      `json:"holidaysobserved,omitempty"`
	ExportValues string      `json:"exportvalues,omitempty"`
	Riders       []urdbRider `json:"riders,omitempty"`
	Baseline     []float64   `json:"baseline,omitempty"`
	Confidence   []float64   `json:"confidence,omitempty"`
	Caveat       string      `json:"caveat,omitempty"`
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

// URDB is the plan as a rate of the US Utility Rate Database, in JSON: the rate
// itself, or all its versions within "items" where it has earlier ones. Its label
// is the database's where the plan has one, and otherwise the plan's ID.
func (p Plan) URDB() []byte {
	if len(p.Earlier) == 0 {
		return p.marshal(p.urdb())
	}
	var items []urdbRate
	for _, version := range append(p.Earlier[:len(p.Earlier):len(p.Earlier)], p) {
		items = append(items, version.urdb())
	}
	return p.marshal(map[string]any{"items": items})
}

func (p Plan) marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("catalog: plan %s: %v", p.ID, err)) // only a rate that is NaN could
	}
	return data
}

// urdb is one version.
func (p Plan) urdb() urdbRate {
	rate := urdbRate{
		Label:                 p.URDBLabel,
		Utility:               p.Utility,
		EIAID:                 p.EIAID,
		Name:                  p.Name,
		Sector:                "Residential",
		StartDate:             p.EffectiveFrom,
		Source:                p.Source,
		DGRules:               p.ExportRules,
		FixedChargeFirstMeter: p.FixedCharge.Amount,
		FixedChargeUnits:      p.FixedCharge.Unit,
		Holidays:              p.Holidays,
		Observed:              p.Observed,
		ExportValues:          p.ExportValues,
		Baseline:              p.Baseline,
		Confidence:            p.Confidence,
		Caveat:                p.Caveat,
	}
	if rate.Label == "" {
		rate.Label = p.ID
	}
	for _, r := range p.Riders {
		rate.Riders = append(rate.Riders, urdbRider{Name: r.Name, Rate: r.Rate, Credited: !r.Uncredited})
	}
	index := map[string]int{}
	for i, period := range p.Periods {
		index[period.Name] = i
		rate.EnergyTOULabels = append(rate.EnergyTOULabels, period.Name)
		rate.EnergyRateStructure = append(rate.EnergyRateStructure, period.tiers())
	}
	for _, season := range p.Seasons {
		weekday := hourly(season.Weekday, index)
		weekend := weekday
		if season.Weekend != nil {
			weekend = hourly(season.Weekend, index)
		}
		for _, month := range season.Months {
			rate.EnergyWeekdaySchedule[month-1] = weekday
			rate.EnergyWeekendSchedule[month-1] = weekend
		}
	}
	return rate
}

// tiers are the steps of a period: one, or one within the baseline and one above.
func (p Period) tiers() []urdbTier {
	if p.BaselineCredit == 0 {
		return []urdbTier{{Rate: p.Rate, Unit: "kWh"}}
	}
	return []urdbTier{{Max: 1, Rate: p.Rate, Adj: -p.BaselineCredit, Unit: "baseline"}, {Rate: p.Rate, Unit: "baseline"}}
}

// hourly spreads hour ranges over the day. An hour that no range covers, or a
// period that does not exist, gives -1, which no reader of the schedule accepts.
func hourly(ranges map[string]string, index map[string]int) []int {
	day := make([]int, hoursADay)
	for hour := range day {
		day[hour] = -1
	}
	for hours, name := range ranges {
		var from, to int
		if _, err := fmt.Sscanf(hours, "%d-%d", &from, &to); err != nil {
			continue
		}
		period, ok := index[name]
		if !ok {
			continue
		}
		for hour := max(from, 0); hour < min(to, hoursADay); hour++ {
			day[hour] = period
		}
	}
	return day
}
