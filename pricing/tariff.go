package pricing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Tariff is a published rate plan: the price of a kWh by period of use, and the hours of
// each period. It has one or more consecutive versions. A Tariff is immutable and safe
// for concurrent use. Package urdb reads tariffs.
type Tariff struct {
	versions []*version // sorted by first day in force; at most one applies on any day
}

// SameStartError reports versions of a tariff that start on the same days.
type SameStartError struct{ From []Date }

func (e *SameStartError) Error() string {
	return fmt.Sprintf("pricing: two versions of a tariff start on %v", e.From)
}

// NewTariff returns a tariff with the given versions, in any order. A version ends, at
// the latest, on the day before the next version starts. The tariff retains the given
// values. The errors are ErrNoTariff for an empty list, and *SameStartError.
func NewTariff(versions []Version) (*Tariff, error) {
	if len(versions) == 0 {
		return nil, ErrNoTariff
	}
	t := &Tariff{}
	for _, v := range versions {
		t.versions = append(t.versions, &version{Version: v})
	}
	if same := chain(t.versions); len(same) > 0 {
		return nil, &SameStartError{same}
	}
	for _, v := range t.versions {
		v.prepare()
	}
	return t, nil
}

// Schedule holds the period of each quarter hour of the local day, by month.
type Schedule [12][QuartersADay]uint16

// Schedules are the schedules of weekdays and of weekends.
type Schedules struct{ Weekday, Weekend Schedule }

// row returns the period of each quarter hour of a day. The month 0 is January.
func (s *Schedules) row(month int, weekend bool) *[QuartersADay]uint16 {
	if weekend {
		return &s.Weekend[month]
	}
	return &s.Weekday[month]
}

// TariffInfo holds the facts of a tariff except its energy prices. Its charges are not
// part of a marginal price, as they do not change with one more kWh.
type TariffInfo struct {
	Label   string // identifier in the rate database
	Name    string
	Utility string
	EIAID   int    // utility number of the US Energy Information Administration; 0 if not given
	Source  string // publication that contains the tariff
	DGRules string // rules for distributed generation, such as "Net Metering"

	// EffectiveFrom and EffectiveTo are the first and the last day in force. Both are
	// inclusive, from midnight to midnight of the home's own wall clock. A zero date
	// means no bound.
	EffectiveFrom Date
	EffectiveTo   Date

	FixedCharge   Charge
	MinimumCharge Charge
	// AnnualMinimum is a minimum of the year beside a MinimumCharge of another unit.
	AnnualMinimum Charge

	// Caveat is the reason to doubt the source; empty without doubt.
	Caveat string
	// SourceDate is the day of the newest source; a zero date means not given. Two years
	// later the tariff is stale. Newer names the plan that replaced this plan.
	SourceDate Date
	Newer      string
}

// Charge is an amount in dollars due per Unit, such as "$/month". The zero value means no
// charge.
type Charge struct {
	Amount float64
	Unit   string
}

// Tier is one step of a period's price. It applies up to a usage in the billing month.
type Tier struct {
	Max  *float64 // upper bound of the usage in Unit; nil when unbounded
	Rate float64  // $/kWh
	Adj  float64  // adjustment added to Rate, $/kWh
	Sell float64  // paid for exported energy, $/kWh
	Unit string   // UnitKWh, UnitKWhDaily or UnitBaseline
}

// The units of a tier's upper bound. All of them bound the usage of one billing month.
const (
	UnitKWh      = "kWh"       // kWh in the month
	UnitKWhDaily = "kWh daily" // kWh for each day of the month
	UnitBaseline = "baseline"  // multiples of the home's baseline allowance
)

// Price returns Rate plus Adj, in $/kWh.
func (t Tier) Price() float64 { return t.Rate + t.Adj }

// newest returns the version with the latest start.
func (t *Tariff) newest() *version { return t.versions[len(t.versions)-1] }

// on returns the version in force on a local day, or nil.
func (t *Tariff) on(day int64) *version {
	for _, v := range t.versions {
		if v.inForce.contains(day) {
			return v
		}
	}
	return nil
}

// Info returns the TariffInfo of the newest version.
func (t *Tariff) Info() TariffInfo { return t.newest().Info }

// Versions returns the versions of the tariff in order of their start, each as a separate
// tariff.
func (t *Tariff) Versions() []*Tariff {
	list := make([]*Tariff, len(t.versions))
	for i, v := range t.versions {
		list[i] = &Tariff{versions: []*version{v}}
	}
	return list
}

// Tiered reports whether a price of some version depends on the usage in the month.
func (t *Tariff) Tiered() bool {
	return slices.ContainsFunc(t.versions, func(v *version) bool { return v.tiered })
}

// PaysAvoidedCosts reports whether some version pays exports by values of the hour.
func (t *Tariff) PaysAvoidedCosts() bool {
	return slices.ContainsFunc(t.versions, func(v *version) bool { return v.ExportValues != nil })
}

// Riders returns the riders of all versions, the newest version's last.
func (t *Tariff) Riders() (list []Rider) {
	for _, v := range t.versions {
		list = append(list, v.Riders...)
	}
	return list
}

func importSource(info TariffInfo) string {
	words := cmp.Or(strings.Join(nonEmpty(info.Utility, info.Name), ": "), "tariff")
	if info.Label != "" {
		words += " (" + info.Label + ")"
	}
	return words
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}
