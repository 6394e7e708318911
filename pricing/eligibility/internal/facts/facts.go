package facts

// Facts is everything that is known. It is read-only once decoded.
type Facts struct {
	Tables
	Zips []Zip // by rising code
}

// Tables are the small tables that the zipcodes point into.
type Tables struct {
	Zones       []string  `json:"zones"` // IANA time zones
	Cities      []string  `json:"cities"`
	Counties    []County  `json:"counties"`
	Markets     []Market  `json:"markets"`     // the first is that of no market
	Authorities []string  `json:"authorities"` // EIA codes of balancing authorities; the first is none
	Utilities   []Utility `json:"utilities"`
	Territories [][]int   `json:"territories"` // sets of utilities by index, the main one first
}

// County is a county of a state.
type County struct {
	State string `json:"s"`
	Name  string `json:"n"`
}

// Market is an organised wholesale market (RTO or ISO) and the demand-response
// programs that it runs itself.
type Market struct {
	Name     string   `json:"n"`
	Programs []string `json:"p,omitempty"`
}

// Utility is what a utility reported to the EIA, and its known programs.
type Utility struct {
	EIAID     int      `json:"i"`
	Name      string   `json:"n"`
	Ownership string   `json:"o,omitempty"`
	Pricing   []string `json:"d,omitempty"` // kinds of residential dynamic pricing
	Responds  int      `json:"r,omitempty"` // residential demand-response customers
	NetMeters int      `json:"m,omitempty"` // residential photovoltaic net-metering customers
	Programs  []string `json:"p,omitempty"` // names of demand-response programs
}

// Basis says how the utilities of a zipcode are known.
type Basis int

// The bases.
const (
	ByNone    Basis = iota // no utility is known
	ByZipcode              // the zipcode's own rows
	ByCounty               // the county's utilities, as the zipcode has no rows
	ByBoth                 // both, as the zipcode's rows name no utility of the county
)

// Zip is a zipcode. The fields that end in table names are indexes.
type Zip struct {
	Code      int // 501 is 00501
	City      int
	County    int
	Zone      int
	Lat, Lon  int // hundredths of a degree
	Territory int
	Market    int
	Authority int
	Basis     Basis
}

// columns gives the addresses of a zipcode's values in the order of the form.
func (z *Zip) columns() [10]*int {
	return [10]*int{
		&z.Code, &z.City, &z.County, &z.Zone, &z.Lat, &z.Lon,
		&z.Territory, &z.Market, &z.Authority, (*int)(&z.Basis),
	}
}
