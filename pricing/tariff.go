package pricing

import (
	"slices"
	"strings"
)

// Tariff is a published rate plan: what a kWh costs by period of use, and when
// each period applies, in one or more versions that follow one another. It is
// immutable and safe for concurrent use. ParseURDB makes one.
type Tariff struct {
	versions []*version // by first day in force; no two apply on one day
}

// schedule gives the period of each quarter hour of the local day, by month.
type schedule [12][quartersADay]uint16

// TariffInfo is what a tariff says beside its energy prices. None of its
// charges is part of a marginal price: they do not change with one kWh more.
type TariffInfo struct {
	Label       string // identifier in the rate database
	Name        string
	Utility     string
	EIAID       int // utility number of the US Energy Information Administration; 0 when not given
	Sector      string
	Source      string // where the tariff was published
	Description string
	DGRules     string // rules for distributed generation, such as "Net Metering"

	// EffectiveFrom and EffectiveTo are the first and the last day in force,
	// both inclusive, from midnight to midnight of the home's own wall clock.
	// A zero date means no bound.
	EffectiveFrom Date
	EffectiveTo   Date

	FixedCharge      Charge
	MinimumCharge    Charge
	HasDemandCharges bool // some price per kW is not zero

	// Caveat says why the source itself is to be doubted; empty when it is not.
	Caveat string
}

// Charge is an amount in dollars that is due per Unit, such as "$/month". Its
// zero value means that there is none.
type Charge struct {
	Amount float64
	Unit   string
}

// Tier is one step of a period's price, which applies up to a usage in the
// billing month.
type Tier struct {
	Max   *float64 // upper bound of the usage in Unit; nil when unbounded
	Rate  float64  // $/kWh
	Adj   float64  // adjustment added to Rate, $/kWh
	Sell  float64  // paid for exported energy, $/kWh
	Sells bool     // whether the tariff gives a sell rate
	Unit  string   // UnitKWh, UnitKWhDaily or UnitBaseline
}

// Units of a tier's upper bound. All of them bound the usage of one billing
// month.
const (
	UnitKWh      = "kWh"       // kWh in the month
	UnitKWhDaily = "kWh daily" // kWh for each day of the month
	UnitBaseline = "baseline"  // multiples of the home's baseline allowance
)

// Price is Rate plus Adj, in $/kWh.
func (t Tier) Price() float64 { return t.Rate + t.Adj }

// newest is the version that was last to come into force.
func (t *Tariff) newest() *version { return t.versions[len(t.versions)-1] }

// on is the version in force on a local day, or nil.
func (t *Tariff) on(day int64) *version {
	for _, v := range t.versions {
		if v.inForce.contains(day) {
			return v
		}
	}
	return nil
}

// Info is what the newest version of the tariff says beside its energy prices.
func (t *Tariff) Info() TariffInfo { return t.newest().info }

// Versions are the versions of the tariff in the order of their effect, each as
// a tariff of its own.
func (t *Tariff) Versions() []*Tariff {
	list := make([]*Tariff, len(t.versions))
	for i, v := range t.versions {
		list[i] = &Tariff{versions: []*version{v}}
	}
	return list
}

// Periods is a copy of the tiers of every period of the newest version, in the
// tariff's order.
func (t *Tariff) Periods() [][]Tier {
	periods := make([][]Tier, len(t.newest().periods))
	for i, tiers := range t.newest().periods {
		periods[i] = cloneTiers(tiers)
	}
	return periods
}

func cloneTiers(tiers []Tier) []Tier {
	copied := slices.Clone(tiers)
	for j, tier := range tiers {
		if tier.Max != nil {
			bound := *tier.Max
			copied[j].Max = &bound
		}
	}
	return copied
}

// Riders are the adders of the newest version.
func (t *Tariff) Riders() []Rider { return slices.Clone(t.newest().riders) }

// DemandCharges are what the newest version asks for power. They are no part of
// a price per kWh, and so of no price signal.
func (t *Tariff) DemandCharges() []DemandCharge { return slices.Clone(t.newest().demand) }

func importSource(info TariffInfo) string {
	words := strings.Join(nonEmpty(info.Utility, info.Name), ": ")
	if words == "" {
		words = "tariff"
	}
	if info.Label != "" {
		words += " (" + info.Label + ")"
	}
	return words
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}
