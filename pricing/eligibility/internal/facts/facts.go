// Package facts holds the facts of each US zipcode, as package eligibility embeds them.
package facts

// Facts holds all facts. The zipcodes refer to the tables before them by index.
type Facts struct {
	Zones       []string // IANA time zones
	Cities      []string
	Counties    []County
	Markets     []Market // the first entry means no market
	Utilities   []Utility
	Territories [][]int // sets of utilities by index, the main one first
	Shares      [][]int // estimated share of each utility's households, in percent
	Zips        []Zip   // by ascending code
	Prefixes    []Zip   // by ascending code
}

// County is a county of a state.
type County struct {
	State string
	Name  string
}

// Market is an organized wholesale market (RTO or ISO) with its own demand-response
// programs.
type Market struct {
	Name     string
	Programs []string
}

// Utility is a utility with its reported data on residential customers.
type Utility struct {
	EIAID     int    // number at the US Energy Information Administration
	Name      string // empty if only the number is known
	Ownership string // such as "Investor Owned"
	// Share is the estimated percentage of an area's households, 0 if unknown.
	Share int

	DynamicPricing          []string // kinds offered in 2018, such as "time-of-use"
	DemandResponseCustomers int      // enrolled in 2018
	NetMeteringCustomers    int      // with photovoltaics, in 2018
	// Programs are names of demand-response programs. In Facts, the prefix "state:" limits
	// a program to one state.
	Programs []string
}

// Basis is the source of a zipcode's utilities.
type Basis int

// The values of Basis.
const (
	ByNone    Basis = iota // no utility is known
	ByZipcode              // the zipcode's own rows
	ByCounty               // the county's utilities, as the zipcode has no rows
	ByBoth                 // both, as the zipcode's rows name no utility of the county
)

// Zip is a zipcode, or what the zipcodes of a prefix of three digits share. City, County,
// Zone, Territory and Market are indexes into the tables.
type Zip struct {
	Code      int // 501 is 00501
	City      int
	County    int
	Zone      int
	Lat, Lon  int // hundredths of a degree
	Height    int // m above the sea, or UnknownHeight
	Territory int
	Market    int
	Basis     Basis
	Zipcodes  int // number of zipcodes of a prefix; 0 for a zipcode
}

// UnknownHeight is the height of a zipcode that has its county's coordinates.
const UnknownHeight = -9999
