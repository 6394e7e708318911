package facts

// Facts holds all facts. It is read-only after decoding.
type Facts struct {
	Tables
	Zips []Zip // by ascending code
}

// Tables are the small tables that the zipcodes refer to.
type Tables struct {
	Zones       []string  `json:"zones"` // IANA time zones
	Cities      []string  `json:"cities"`
	Counties    []County  `json:"counties"`
	Markets     []Market  `json:"markets"`     // the first entry means no market
	Authorities []string  `json:"authorities"` // EIA codes of balancing authorities; the first entry means no authority
	Utilities   []Utility `json:"utilities"`
	Territories [][]int   `json:"territories"` // sets of utilities by index, the main one first
	Shares      [][]int   `json:"shares"`      // estimated share of each utility's households, in percent
}

// County is a county of a state.
type County struct {
	State string `json:"s"`
	Name  string `json:"n"`
}

// Market is an organized wholesale market (RTO or ISO) with its own demand-response
// programs.
type Market struct {
	Name     string   `json:"n"`
	Programs []string `json:"p,omitempty"`
}

// Utility holds a utility's report to the EIA, and its known programs.
type Utility struct {
	EIAID     int      `json:"i"`
	Name      string   `json:"n"`
	Ownership string   `json:"o,omitempty"`
	Pricing   []string `json:"d,omitempty"` // kinds of residential dynamic pricing
	Responds  int      `json:"r,omitempty"` // residential demand-response customers
	NetMeters int      `json:"m,omitempty"` // residential photovoltaic net-metering customers
	// Programs are names of demand-response programs. The prefix "state:" limits a
	// program to one state.
	Programs []string `json:"p,omitempty"`
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

// Columns returns pointers to a zipcode's values in the order of the form.
func (z *Zip) Columns() [11]*int {
	return [11]*int{
		&z.Code, &z.City, &z.County, &z.Zone, &z.Lat, &z.Lon, &z.Height,
		&z.Territory, &z.Market, &z.Authority, (*int)(&z.Basis),
	}
}
