package eligibility

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
	"github.com/gridhook/gridhook/pricing/internal/embedded"
)

// Place is the location of a zipcode. City and county are empty for a prefix, as a prefix
// has many.
type Place struct {
	City     string
	County   string
	State    string  // two letters
	Timezone string  // IANA name
	Lat, Lon float64 // degrees north and east, to about a kilometer
	// Height is the mean height of some 9 km around, in m above the sea. It is unknown for
	// a zipcode that has its county's coordinates.
	Height      float64
	HeightKnown bool
}

// Climate returns the place for the choice of its weather.
func (p *Place) Climate() *climate.Place {
	return &climate.Place{Lat: p.Lat, Lon: p.Lon, State: p.State, County: p.County, Height: p.Height, HeightKnown: p.HeightKnown}
}

// Utility is a utility with its reported data on residential customers.
type Utility struct {
	EIAID     int    // number at the US Energy Information Administration
	Name      string // empty if only the number is known
	Ownership string // such as "Investor Owned"
	// Share is the estimated percentage of the area's households, 0 if unknown.
	Share int

	DynamicPricing          []string // kinds offered in 2018, such as "time-of-use"
	DemandResponseCustomers int      // enrolled in 2018
	NetMeteringCustomers    int      // with photovoltaics, in 2018
	Programs                []string // names of demand-response programs
}

// Area holds the known facts of a zipcode or a prefix. Areas share their slices: treat
// them as read-only.
type Area struct {
	Code string // five digits, or three digits for a prefix
	Place
	Utilities []Utility // the main one first
	Market    string    // RTO or ISO, such as "PJM"; empty if there is none
	// BalancingAuthority is the EIA's code, such as "CISO"; empty when unknown.
	BalancingAuthority string

	marketPrograms []string
	basis          facts.Basis
	zipcodes       int // number of zipcodes of a prefix; 0 for a zipcode
	overridden     bool
}

// MainUtility returns the EIA number of the utility that serves most of the area's
// households; 0 if none is known.
func (a *Area) MainUtility() int {
	if len(a.Utilities) == 0 {
		return 0
	}
	return a.Utilities[0].EIAID
}

//go:embed facts.bin
var packed []byte

// known returns the facts and decodes them on first use.
var known = sync.OnceValue(func() *facts.Facts {
	f := embedded.Decode[facts.Facts]("facts.bin", packed)
	return &f
})

// Locate returns the place of a zipcode, for the time zone and the weather of a home. For
// a prefix it returns the most common time zone and the middle. It returns false if the
// zipcode is malformed or unknown.
func Locate(zipcode string) (Place, bool) {
	code, ok := Normalize(zipcode)
	if !ok {
		return Place{}, false
	}
	f := known()
	zips := find(f, code)
	if len(zips) == 0 {
		return Place{}, false
	}
	return placeOf(f, zips), true
}

// find returns the zipcodes of a normalized code: one zipcode, all zipcodes of a prefix,
// or nil.
func find(f *facts.Facts, code string) []facts.Zip {
	first, err := strconv.Atoi(code)
	if err != nil {
		return nil
	}
	after := first + 1
	if len(code) == prefixDigits {
		first, after = first*100, after*100
	}
	at := func(code int) int {
		i, _ := slices.BinarySearchFunc(f.Zips, code, func(z facts.Zip, code int) int { return z.Code - code })
		return i
	}
	return f.Zips[at(first):at(after)]
}

// placeOf returns the place of one zipcode, or the shared place of a prefix.
func placeOf(f *facts.Facts, zips []facts.Zip) Place {
	var lat, lon, height, heights int
	for i := range zips {
		lat, lon = lat+zips[i].Lat, lon+zips[i].Lon
		if zips[i].Height != facts.UnknownHeight {
			height, heights = height+zips[i].Height, heights+1
		}
	}
	n := len(zips)
	p := Place{
		State:    f.Counties[mostFrequent(zips, func(z *facts.Zip) int { return z.County })].State,
		Timezone: f.Zones[mostFrequent(zips, func(z *facts.Zip) int { return z.Zone })],
		Lat:      degrees(lat, n),
		Lon:      degrees(lon, n),
	}
	if heights > 0 {
		p.Height, p.HeightKnown = math.Round(float64(height)/float64(heights)), true
	}
	if len(zips) == 1 {
		p.City, p.County = f.Cities[zips[0].City], f.Counties[zips[0].County].Name
	}
	return p
}

// degrees returns the mean of hundredths of a degree, rounded to hundredths.
func degrees(sum, n int) float64 {
	return math.Round(float64(sum)/float64(n)) / 100
}

// areaOf returns all facts of one zipcode or of a prefix.
func areaOf(f *facts.Facts, code string, zips []facts.Zip) Area {
	market := f.Markets[mostFrequent(zips, func(z *facts.Zip) int { return z.Market })]
	a := Area{
		Code: code, Place: placeOf(f, zips), Market: market.Name, marketPrograms: market.Programs,
		BalancingAuthority: f.Authorities[mostFrequent(zips, func(z *facts.Zip) int { return z.Authority })],
		basis:              zips[0].Basis,
	}
	if len(code) == prefixDigits {
		a.zipcodes = len(zips)
	}
	order, shares := serving(f, zips)
	for _, u := range order {
		utility := utilityOf(f.Utilities[u])
		utility.Share = int(math.Round(shares[u] / float64(len(zips))))
		utility.Programs = programsIn(a.State, utility.Programs)
		a.Utilities = append(a.Utilities, utility)
	}
	return a
}

// programsIn removes the programs of other states.
func programsIn(state string, programs []string) []string {
	var here []string
	for _, name := range programs {
		if of, rest, found := strings.Cut(name, ":"); !found {
			here = append(here, name)
		} else if of == state {
			here = append(here, rest)
		}
	}
	return here
}

// serving returns the utilities of the zipcodes, sorted by households, greatest first.
// shares is the sum of each utility's shares.
func serving(f *facts.Facts, zips []facts.Zip) (order []int, shares map[int]float64) {
	shares = map[int]float64{}
	for i := range zips {
		for k, u := range f.Territories[zips[i].Territory] {
			if _, seen := shares[u]; !seen {
				order = append(order, u)
			}
			shares[u] += float64(f.Shares[zips[i].Territory][k])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	return order, shares
}

// mostFrequent returns the most frequent value of the zipcodes, the smallest on a tie.
func mostFrequent(zips []facts.Zip, value func(*facts.Zip) int) int {
	if len(zips) == 1 {
		return value(&zips[0])
	}
	counts := map[int]int{}
	for i := range zips {
		counts[value(&zips[i])]++
	}
	best := value(&zips[0])
	for v, n := range counts {
		if n > counts[best] || n == counts[best] && v < best {
			best = v
		}
	}
	return best
}

func utilityOf(u facts.Utility) Utility {
	return Utility{
		EIAID: u.EIAID, Name: u.Name, Ownership: u.Ownership, DynamicPricing: u.Pricing,
		DemandResponseCustomers: u.Responds, NetMeteringCustomers: u.NetMeters, Programs: u.Programs,
	}
}
