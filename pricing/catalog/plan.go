package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Plan is a residential rate plan in the catalog's compact form. All rates are
// totals, generation and delivery together, in $/kWh, unless the plan names
// riders, which come on top.
type Plan struct {
	ID            string   `json:"id"` // such as "pge-e-elec"
	Utility       string   `json:"utility"`
	EIAID         int      `json:"eiaId"` // utility number of the US Energy Information Administration
	State         string   `json:"state"` // two letters; empty when not given
	Name          string   `json:"name"`
	Timezone      string   `json:"timezone"`      // IANA name
	URDBLabel     string   `json:"urdbLabel"`     // empty when the source is a tariff sheet
	Source        string   `json:"source"`        // where the rates were published
	EffectiveFrom string   `json:"effectiveFrom"` // first day in force; empty when the source gives none
	FixedCharge   Charge   `json:"fixedCharge"`
	Periods       []Period `json:"periods"`
	Seasons       []Season `json:"seasons"` // together they name every month once

	// Holidays are the US federal holidays priced as a weekend, by name.
	Holidays []string `json:"holidays"`
	// Observed is "monday" where a holiday on a Saturday is not moved to Friday.
	Observed string `json:"observed"`
	// ExportRules and ExportValues are the plan's dgrules and exportvalues, as
	// pricing.ParseURDB reads them.
	ExportRules  string  `json:"exportRules"`
	ExportValues string  `json:"exportValues"`
	Riders       []Rider `json:"riders"`
	// Baseline is the allowance by month, kWh a day; a period's BaselineCredit
	// is taken off up to it.
	Baseline []float64 `json:"baseline"`

	// Confidence in the rates by month, 0 to 1, and why it is not full. None
	// means full confidence.
	Confidence []float64 `json:"confidence"`
	Caveat     string    `json:"caveat"`

	// Earlier are the versions that were in force before, oldest first.
	Earlier []Plan `json:"earlier"`
}

// Charge is an amount in dollars that is due per Unit.
type Charge struct {
	Amount float64 `json:"amount"`
	Unit   string  `json:"unit"`
}

// Period is a named price.
type Period struct {
	Name string  `json:"name"`
	Rate float64 `json:"rate"` // $/kWh
	// BaselineCredit is taken off the rate up to the baseline allowance, $/kWh.
	BaselineCredit float64 `json:"baselineCredit"`
}

// Rider is a named adder, $/kWh.
type Rider struct {
	Name string  `json:"name"`
	Rate float64 `json:"rate"`
	// Uncredited riders are not paid back by net metering.
	Uncredited bool `json:"uncredited"`
}

// Season says which period applies in which hours of its months. The keys are
// hours of the local day such as "16-21", the first included and the second not.
type Season struct {
	Months  []int             `json:"months"` // 1 is January
	Weekday map[string]string `json:"weekday"`
	Weekend map[string]string `json:"weekend"` // none when it is as on weekdays
}

//go:embed plans.json
var plansJSON []byte

// Plans are the plans read from tariff sheets and checked one by one, in a fixed
// order. The result is the caller's own. All has the US catalogue as well.
func Plans() []Plan {
	plans := clonePlans(featured(sheetPlans()))
	var others []Plan
	if err := json.Unmarshal(plansJSON, &others); err != nil {
		panic(fmt.Sprintf("catalog: embedded plans.json: %v", err)) // the tests read every plan
	}
	return append(plans, others...)
}

// featured are PG&E's schedules for homes with much electric load.
func featured(plans []Plan) []Plan {
	var list []Plan
	for _, p := range plans {
		if p.ID == "pge-e-elec" || p.ID == "pge-ev2-a" {
			list = append(list, p)
		}
	}
	return list
}

// clonePlans copies what a caller may write to.
func clonePlans(plans []Plan) []Plan {
	copies := slices.Clone(plans)
	for i := range copies {
		p := &copies[i]
		p.Periods, p.Riders, p.Holidays = slices.Clone(p.Periods), slices.Clone(p.Riders), slices.Clone(p.Holidays)
		p.Baseline, p.Confidence = slices.Clone(p.Baseline), slices.Clone(p.Confidence)
		p.Seasons = slices.Clone(p.Seasons)
		for j := range p.Seasons {
			s := &p.Seasons[j]
			s.Months, s.Weekday, s.Weekend = slices.Clone(s.Months), maps.Clone(s.Weekday), maps.Clone(s.Weekend)
		}
		p.Earlier = clonePlans(p.Earlier)
	}
	return copies
}
