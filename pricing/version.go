package pricing

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/netbilling"
)

// Version is the state of a tariff between two changes.
type Version struct {
	Info    TariffInfo
	Periods [][]Tier
	// PeriodNames may be shorter than Periods.
	PeriodNames []string
	Schedules
	Holidays Holidays
	// HolidaysUnknown means that the source does not say which holidays the plan has.
	HolidaysUnknown bool
	Riders          []Rider
	// Baseline is the allowance, kWh a day by month; 0 if not given.
	Baseline [12]float64
	// Uncredited is the part of the energy rates that net metering does not credit, $/kWh
	// (California's non-bypassable charges).
	Uncredited float64
	// ExportValues are paid for exported energy under net billing. They are nil if the
	// tariff has sell rates, or pays nothing.
	ExportValues *netbilling.Values
	Passthrough  *Passthrough // nil if the price follows no market
	Doubt        [12]float64  // shortfall from full confidence, by month
	Demand       Demand
}

// version is a Version with precomputed values for pricing. It is immutable.
type version struct {
	Version
	inForce      span
	rules        string // for distributed generation, trimmed and in lower case
	importSource string
	staleSource  string                                  // importSource of a stale version
	pays         bool                                    // some tier has a sell rate other than zero
	tiered       bool                                    // some period has more than one tier
	compensation map[CompensationType]ExportCompensation // by the settlement of Solar
	exportDays   Holidays                                // treated as weekend by ExportValues
	ownValues    bool                                    // ExportValues are the home's own, of its vintage
}

// prepare computes the derived fields.
func (v *version) prepare() {
	v.inForce = newSpan(v.Info.EffectiveFrom, v.Info.EffectiveTo)
	v.rules = strings.ToLower(strings.TrimSpace(v.Info.DGRules))
	v.importSource = importSource(v.Info)
	v.staleSource = v.importSource + ", " + v.staleness()
	for _, tiers := range v.Periods {
		v.tiered = v.tiered || len(tiers) > 1
		v.pays = v.pays || slices.ContainsFunc(tiers, func(t Tier) bool { return roundPrice(t.Sell) != 0 })
	}
	if v.ExportValues != nil {
		v.exportDays = v.calendarOfExports()
	}
	v.compensation = map[CompensationType]ExportCompensation{}
	for _, settlement := range []CompensationType{"", NetMetering, NetBilling} {
		kind, description := v.exportRule(settlement)
		v.compensation[settlement] = ExportCompensation{
			Type: kind, Source: v.Info.Source, Description: description,
			EffectiveFrom: v.Info.EffectiveFrom, EffectiveTo: v.Info.EffectiveTo,
		}
	}
}

// OfTypicalYear returns a tariff with the newest version, in force on every date.
func (t *Tariff) OfTypicalYear() *Tariff {
	newest := &Tariff{versions: []*version{t.newest()}}
	return newest.changed(func(v *version) { v.Info.EffectiveFrom, v.Info.EffectiveTo = Date{}, Date{} })
}

// periodName returns the tariff's name of a period, or its number.
func (v *version) periodName(period int) string {
	if period < len(v.PeriodNames) && v.PeriodNames[period] != "" {
		return v.PeriodNames[period]
	}
	return "period " + strconv.Itoa(period+1)
}

// asWeekend reports whether a local day is priced as a weekend: a Saturday, a Sunday or a
// holiday.
func (v *version) asWeekend(day localDay) bool { return day.weekend || v.Holidays.contains(day) }

// chain sorts the versions of one plan and ends each on the day before the next version
// starts. It returns the days on which two versions start. A zero date is before all
// other days.
func chain(versions []*version) (same []Date) {
	slices.SortStableFunc(versions, func(a, b *version) int {
		return cmp.Compare(a.Info.EffectiveFrom.dayNumber(), b.Info.EffectiveFrom.dayNumber())
	})
	for i := range len(versions) - 1 {
		v, next := versions[i], versions[i+1].Info.EffectiveFrom
		if v.Info.EffectiveFrom == next {
			same = append(same, next)
			continue
		}
		last := dateOfDay(next.dayNumber() - 1)
		if v.Info.EffectiveTo.IsZero() || v.Info.EffectiveTo.dayNumber() > last.dayNumber() {
			v.Info.EffectiveTo = last
		}
	}
	return same
}
