package netbilling

// Segment is a kind of residential customer with its own adder.
type Segment string

// The values of Segment.
const (
	General   Segment = "GENERAL"
	LowIncome Segment = "LOW_INCOME"
	NewHome   Segment = "NEW_HOME" // new homes, and homes with a new owner: no adder
)

// Segments returns all values of Segment.
func Segments() []Segment { return []Segment{General, LowIncome, NewHome} }

// The EIA numbers of the utilities that pay adders.
const (
	pge = 14328
	sce = 17609
)

// Homes connected from firstAdder on receive the adder for adderYears years.
const (
	firstAdder = 2023
	adderYears = 9
)

var adders = map[int]map[Segment][]float64{
	pge: {General: {0.022, 0.018, 0.013, 0.009, 0.004}, LowIncome: {0.090, 0.072, 0.054, 0.036, 0.018}},
	sce: {General: {0.040, 0.032, 0.024, 0.016, 0.008}, LowIncome: {0.093, 0.074, 0.056, 0.037, 0.019}},
}

// Adder returns the Avoided Cost Calculator Plus adder of a year on every exported kWh,
// $/kWh. It depends on the year in which the home's solar was connected. It lasts for
// nine years from that year on. It is 0 for homes connected outside of 2023 to 2027, for
// new homes, at SDG&E, and in the component Generation alone. CPUC decision D.22-12-056.
func (v *Values) Adder(segment Segment, connected, year int) float64 {
	years := adders[v.table.EIAID][segment]
	i := connected - firstAdder
	if v.only == Generation || i < 0 || i >= len(years) || year < connected || year >= connected+adderYears {
		return 0
	}
	return years[i]
}

// MovesSaturdays reports whether the utility observes a Saturday's holiday on the Friday
// before, like PG&E.
func (v *Values) MovesSaturdays() bool { return v.table.EIAID == pge }
