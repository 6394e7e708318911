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

// Utility is a utility with its data on residential customers, in Facts those reported for
// 2018. The tags are for what the operator says of a utility.
type Utility struct {
	EIAID     int    `json:"eiaId" minimum:"1" doc:"The utility's number at the US Energy Information Administration." example:"4110"`
	Name      string `json:"name" minLength:"1" maxLength:"255" example:"Acme Electric"` // empty if only the number is known
	Ownership string `json:"ownership" maxLength:"255" example:"Investor Owned"`
	// Share is the estimated percentage of an area's households, 0 if unknown.
	Share int `json:"-"`

	DynamicPricing          []string `json:"dynamicPricing" maxItems:"100" itemsMinLength:"1" itemsMaxLength:"255" doc:"The kinds of dynamic pricing, such as time-of-use." example:"[\"time-of-use\"]"`
	DemandResponseCustomers int      `json:"demandResponseCustomers" minimum:"0" doc:"The number of homes in demand-response programs. netMeteringCustomers is the number in net metering."`
	NetMeteringCustomers    int      `json:"netMeteringCustomers" minimum:"0"`
	// Programs are names of demand-response programs. In Facts, the prefix "state:" limits
	// a program to one state.
	Programs []string `json:"programs" maxItems:"100" itemsMinLength:"1" itemsMaxLength:"255" doc:"The names of the utility's demand-response programs." example:"[\"Peak Time Savings\"]"`
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
