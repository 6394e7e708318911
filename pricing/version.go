package pricing

import (
	"slices"

	"github.com/gridhook/gridhook/pricing/netbilling"
)

// version is a tariff as it stands between two changes of it. It is immutable.
type version struct {
	info     TariffInfo
	periods  [][]Tier
	names    []string // of the periods; may be shorter than periods
	weekday  schedule
	weekend  schedule
	holidays holidays
	riders   []Rider
	baseline [12]float64 // allowance, kWh a day by month; 0 where none is given
	// uncredited is the part of the energy rates that net metering does not pay
	// back, $/kWh (California's non-bypassable charges).
	uncredited float64
	// values are paid for exported energy under net billing; nil where the tariff
	// has sell rates, or nothing.
	values      *netbilling.Values
	passthrough *Passthrough // nil where the price follows no market
	doubt       [12]float64  // what is missing from full confidence, by month
	demand      []DemandCharge
	inForce     span

	// What pricing needs of all that, worked out once.
	importSource string
	pays         bool                  // some tier has a sell rate other than zero
	tiered       bool                  // some period has more than one tier
	compensation [2]ExportCompensation // by Solar.NonNetMetered
}

// prepare works out the fields that Price reads.
func (v *version) prepare() {
	v.inForce = newSpan(v.info.EffectiveFrom, v.info.EffectiveTo)
	v.importSource = importSource(v.info)
	for _, tiers := range v.periods {
		v.tiered = v.tiered || len(tiers) > 1
		v.pays = v.pays || slices.ContainsFunc(tiers, func(t Tier) bool { return roundPrice(t.Sell) != 0 })
	}
	v.compensation = [2]ExportCompensation{v.compensate(false), v.compensate(true)}
}

// periodName is the name that the tariff gives a period, or its number.
func (v *version) periodName(period int) string {
	if period < len(v.names) && v.names[period] != "" {
		return v.names[period]
	}
	return numbered("period", period)
}

// row gives the period of each quarter hour of a local day.
func (v *version) row(day localDay) *[quartersADay]uint16 {
	if day.weekend || v.holidays.contains(day) {
		return &v.weekend[day.month]
	}
	return &v.weekday[day.month]
}

// chain orders the versions of one plan and ends each on the day before the next
// one starts. It says which of them start on the same day.
func chain(versions []*version) (same []*version) {
	slices.SortStableFunc(versions, func(a, b *version) int {
		return compareFrom(a.info.EffectiveFrom, b.info.EffectiveFrom)
	})
	for i := range len(versions) - 1 {
		v, next := versions[i], versions[i+1].info.EffectiveFrom
		if v.info.EffectiveFrom == next {
			same = append(same, versions[i+1])
			continue
		}
		last := dateOfDay(next.dayNumber() - 1)
		if v.info.EffectiveTo.IsZero() || v.info.EffectiveTo.dayNumber() > last.dayNumber() {
			v.info.EffectiveTo = last
		}
	}
	return same
}

// compareFrom orders first days in force; none given is before all.
func compareFrom(a, b Date) int {
	switch {
	case a == b:
		return 0
	case a.IsZero():
		return -1
	case b.IsZero():
		return 1
	}
	return int(a.dayNumber() - b.dayNumber())
}
