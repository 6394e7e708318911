// Package facts holds the facts of each US zipcode, as package eligibility embeds them.
package facts

// Facts holds all facts. The zipcodes refer to the tables before them by index.
type Facts struct {
	Zones       []string // IANA time zones
	Cities      []string
	Counties    []County
	Markets     []Market // the first entry means no market
	Authorities []string // EIA codes of balancing authorities; the first entry means no authority
	Utilities   []Utility
	Territories [][]int // sets of utilities by index, the main one first
	Shares      [][]int // estimated share of each utility's households, in percent
	Zips        []Zip   // by ascending code
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

// Utility holds a utility's report to the EIA, and its known programs.
type Utility struct {
	EIAID     int
	Name      string
	Ownership string
	Pricing   []string // kinds of residential dynamic pricing
	Responds  int      // residential demand-response customers
	NetMeters int      // residential photovoltaic net-metering customers
	// Programs are names of demand-response programs. The prefix "state:" limits a
	// program to one state.
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

// Zip is a zipcode. City, County, Zone, Territory, Market and Authority are indexes into
// the tables.
type Zip struct {
	Code      int // 501 is 00501
	City      int
	County    int
	Zone      int
	Lat, Lon  int // hundredths of a degree
	Height    int // m above the sea, or UnknownHeight
	Territory int
	Market    int
	Authority int
	Basis     Basis
}

// UnknownHeight is the height of a zipcode that has its county's coordinates.
const UnknownHeight = -9999
