package build

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// Plan is a residential rate plan before its conversion to a rate of the database. All
// rates are totals of generation and delivery, in $/kWh. Riders, if any, are added to the
// rates.
type Plan struct {
	catalog.Summary
	URDBLabel     string // empty if the source is a tariff sheet
	EffectiveFrom string // first day in force; empty if the source has none
	SourceDate    string // day of the newest source
	Newer         string // ID of a plan of the same schedule with a newer source
	Checked       bool   // checked by itself against its source
	FixedCharge   pricing.Charge
	Periods       []Period
	Seasons       []Season // each month is in exactly one season
	ExportRules   string   // the plan's dgrules for urdb.Parse
	extras

	// Earlier are the earlier versions, oldest first.
	Earlier []Plan
}

// Period is a named price.
type Period struct {
	Name string
	Rate float64 // $/kWh
	// BaselineCredit is subtracted from the rate up to the baseline allowance, $/kWh.
	BaselineCredit float64
}

// Season holds the names of the periods of its months, by hour of the local day.
type Season struct {
	Months  []int // 1 is January
	Weekday []string
	Weekend []string // nil if the same as on weekdays
}
