package netbilling

// Segment is the kind of customer that an adder depends on.
type Segment string

// The segments of residential customers.
const (
	General   Segment = "GENERAL"
	LowIncome Segment = "LOW_INCOME"
)

// Adder is what the Avoided Cost Calculator Plus adds to every exported kWh for
// nine years, $/kWh, by the year in which the home's solar was connected. It is 0
// where there is none: outside of 2023 to 2027, for new homes, and at SDG&E.
// CPUC decision D.22-12-056.
func Adder(eiaID int, segment Segment, connected int) float64 {
	const first, pge, sce = 2023, 14328, 17609
	table := map[int]map[Segment][]float64{
		pge: {General: {0.022, 0.018, 0.013, 0.009, 0.004}, LowIncome: {0.090, 0.072, 0.054, 0.036, 0.018}},
		sce: {General: {0.040, 0.032, 0.024, 0.016, 0.008}, LowIncome: {0.093, 0.074, 0.056, 0.037, 0.019}},
	}
	years := table[eiaID][segment]
	if connected < first || connected-first >= len(years) {
		return 0
	}
	return years[connected-first]
}
