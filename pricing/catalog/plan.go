package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Plan is a residential rate plan in the catalog's compact form. All rates are totals of
// generation and delivery, in $/kWh. Riders, if any, are added to the rates.
type Plan struct {
	Summary
	URDBLabel     string   `json:"urdbLabel"`     // empty if the source is a tariff sheet
	EffectiveFrom string   `json:"effectiveFrom"` // first day in force; empty if the source has none
	SourceDate    string   `json:"sourceDate"`    // day of the newest source
	Newer         string   `json:"newer"`         // ID of a plan of the same schedule with a newer source
	FixedCharge   Charge   `json:"fixedCharge"`
	Periods       []Period `json:"periods"`
	Seasons       []Season `json:"seasons"` // each month is in exactly one season

	// Holidays are the US federal holidays with weekend prices, by name.
	Holidays []string `json:"holidays"`
	// Observed is "monday" if a holiday on a Saturday is not moved to Friday.
	Observed string `json:"observed"`
	// ExportRules and ExportValues are the plan's dgrules and exportvalues for
	// urdb.Parse.
	ExportRules  string  `json:"exportRules"`
	ExportValues string  `json:"exportValues"`
	Riders       []Rider `json:"riders"`
	// Baseline is the allowance by month, kWh a day. A period's BaselineCredit applies up
	// to it.
	Baseline []float64 `json:"baseline"`

	// Confidence is the confidence in the rates by month, 0 to 1; nil means full
	// confidence.
	Confidence []float64 `json:"confidence"`

	// Earlier are the earlier versions, oldest first.
	Earlier []Plan `json:"earlier"`
}

// Summary says what a plan is, without its rates.
type Summary struct {
	ID       string `json:"id" example:"pge-e-elec"`
	Utility  string `json:"utility" example:"Pacific Gas & Electric Co"`
	EIAID    int    `json:"eiaId" doc:"The utility's number at the US Energy Information Administration." example:"14328"`
	State    string `json:"state" example:"CA"` // two letters; empty if not given
	Name     string `json:"name" example:"E-ELEC"`
	Timezone string `json:"timezone" example:"America/Los_Angeles"`
	Source   string `json:"source" doc:"Where the rates were published." example:"https://acme-electric.example/tariffs"`
	Caveat   string `json:"caveat" doc:"Why the rates may be inaccurate. Empty if there is no reason." example:""`
}

// Charge is an amount in dollars due per Unit.
type Charge struct {
	Amount float64 `json:"amount"`
	Unit   string  `json:"unit"`
}

// Period is a named price.
type Period struct {
	Name string  `json:"name"`
	Rate float64 `json:"rate"` // $/kWh
	// BaselineCredit is subtracted from the rate up to the baseline allowance, $/kWh.
	BaselineCredit float64 `json:"baselineCredit"`
}

// Rider is a named adder, $/kWh.
type Rider struct {
	Name string  `json:"name"`
	Rate float64 `json:"rate"`
	// Uncredited riders are not credited by net metering.
	Uncredited bool `json:"uncredited"`
}

// Season holds the period of each hour in its months. The keys are hours of the local day
// such as "16-21", the first included and the second excluded.
type Season struct {
	Months  []int             `json:"months"` // 1 is January
	Weekday map[string]string `json:"weekday"`
	Weekend map[string]string `json:"weekend"` // nil if the same as on weekdays
}

//go:embed plans.json
var plansJSON []byte

// Plans returns the plans from tariff sheets, each checked, in a fixed order. Do not change
// them. All also returns the US catalog.
func Plans() []Plan { return append(featured(sheetPlans()), otherPlans()...) }

// otherPlans returns the plans of plans.json. A plan that is also in the US catalog has
// the catalog's confidence.
var otherPlans = sync.OnceValue(func() []Plan {
	var others []Plan
	if err := json.Unmarshal(plansJSON, &others); err != nil {
		panic(fmt.Sprintf("catalog: embedded plans.json: %v", err)) // the tests read every plan
	}
	for i := range others {
		p := &others[i]
		p.SourceDate = p.EffectiveFrom
		for _, twin := range usRates() {
			if twin.URDBLabel == p.URDBLabel {
				p.SourceDate, p.Confidence, p.Caveat = twin.SourceDate, twin.Confidence, twin.Caveat
			}
		}
	}
	return others
})

// featured returns PG&E's schedules for homes with much electric load.
func featured(plans []Plan) []Plan {
	var list []Plan
	for _, p := range plans {
		if p.ID == "pge-e-elec" || p.ID == "pge-ev2-a" {
			list = append(list, p)
		}
	}
	return list
}
