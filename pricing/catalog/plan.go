package catalog

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/gridhook/gridhook/pricing/internal/embedded"
)

// Plan is a residential rate plan in the catalog's compact form. All rates are totals of
// generation and delivery, in $/kWh. Riders, if any, are added to the rates.
type Plan struct {
	Summary
	URDBLabel     string // empty if the source is a tariff sheet
	EffectiveFrom string // first day in force; empty if the source has none
	SourceDate    string // day of the newest source
	Newer         string // ID of a plan of the same schedule with a newer source
	FixedCharge   Charge
	Periods       []Period
	Seasons       []Season // each month is in exactly one season

	// Holidays are the US federal holidays with weekend prices, by name.
	Holidays []string
	// Observed is "monday" if a holiday on a Saturday is not moved to Friday.
	Observed string
	// ExportRules and ExportValues are the plan's dgrules and exportvalues for
	// urdb.Parse.
	ExportRules  string
	ExportValues string
	Riders       []Rider
	// Baseline is the allowance by month, kWh a day. A period's BaselineCredit applies up
	// to it.
	Baseline []float64

	// Confidence is the confidence in the rates by month, 0 to 1; nil means full
	// confidence.
	Confidence []float64

	// Earlier are the earlier versions, oldest first.
	Earlier []Plan
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
	Amount float64
	Unit   string
}

// Period is a named price.
type Period struct {
	Name string
	Rate float64 // $/kWh
	// BaselineCredit is subtracted from the rate up to the baseline allowance, $/kWh.
	BaselineCredit float64
}

// Rider is a named adder, $/kWh.
type Rider struct {
	Name string
	Rate float64
	// Uncredited riders are not credited by net metering.
	Uncredited bool
}

// Season holds the names of the periods of its months, by hour of the local day.
type Season struct {
	Months  []int // 1 is January
	Weekday []string
	Weekend []string // nil if the same as on weekdays
}

// Lists are all plans of the package.
type Lists struct {
	// Checked are plans from tariff sheets, each checked. Sheets are the other schedules of
	// the same utilities, and US the residential rates of the US catalog, by state, utility
	// and name.
	Checked []Plan
	Sheets  []Plan
	US      []Plan
}

//go:embed plans.bin
var plansPacked []byte

var lists = sync.OnceValue(func() Lists { return embedded.Decode[Lists]("plans.bin", plansPacked) })

// Plans returns the plans from tariff sheets, each checked, in a fixed order. Do not change
// them. All also returns the other plans.
func Plans() []Plan { return lists().Checked }

// US returns the residential rates of the US catalog, by state, utility and name. Do not
// change them.
func US() []Plan { return lists().US }

// All returns all plans of the package: first the plans from tariff sheets, then the US
// catalog. Do not change them.
func All() []Plan { return allPlans() }

var allPlans = sync.OnceValue(func() []Plan { return slices.Concat(Plans(), lists().Sheets, US()) })
