package eligibility

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// Place is where a zipcode is. City and county are empty for a prefix, which has
// many.
type Place struct {
	City     string
	County   string
	State    string  // two letters
	Timezone string  // IANA name
	Lat, Lon float64 // degrees north and east, to about a kilometre
}

// Utility is a utility and what it reported of its residential customers.
type Utility struct {
	EIAID     int    // number at the US Energy Information Administration
	Name      string // empty when only the number is known
	Ownership string // such as "Investor Owned"

	DynamicPricing          []string // kinds offered in 2018, such as "time-of-use"
	DemandResponseCustomers int      // enrolled in 2018
	NetMeteringCustomers    int      // with photovoltaics, in 2018
	Programs                []string // names of demand-response programs, unverified
}

// Area is what is known of a zipcode or of a prefix. Its slices are shared: treat
// them as read-only.
type Area struct {
	Code string // five digits, or the three of a prefix
	Place
	Utilities []Utility // the main one first
	Market    string    // RTO or ISO, such as "PJM"; empty when in none
	// BalancingAuthority is the EIA's code, such as "CISO"; empty when unknown.
	BalancingAuthority string

	marketPrograms []string
	basis          facts.Basis
	zipcodes       int // how many the prefix has; 0 for a zipcode
	overridden     bool
}

//go:embed facts.bin
var packed []byte

// known unpacks the facts once, when they are first asked for.
var known = sync.OnceValue(func() *facts.Facts {
	f, err := facts.Decode(packed)
	if err != nil {
		panic(fmt.Sprintf("eligibility: embedded facts: %v", err)) // the tests unpack them
	}
	return f
})

// Locate is the place of a zipcode, for the time zone and the weather of a home.
// Of a prefix it is the most common time zone and the middle. It reports false
// when the zipcode has not the form of one or is not known.
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

// find gives the zipcodes of a normalised code: one, those of a prefix, or none.
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

// placeOf is the place of one zipcode, or what those of a prefix share.
func placeOf(f *facts.Facts, zips []facts.Zip) Place {
	var lat, lon int
	for i := range zips {
		lat, lon = lat+zips[i].Lat, lon+zips[i].Lon
	}
	n := len(zips)
	p := Place{
		State:    f.Counties[mostOften(zips, func(z *facts.Zip) int { return z.County })].State,
		Timezone: f.Zones[mostOften(zips, func(z *facts.Zip) int { return z.Zone })],
		Lat:      degrees(lat, n),
		Lon:      degrees(lon, n),
	}
	if len(zips) == 1 {
		p.City, p.County = f.Cities[zips[0].City], f.Counties[zips[0].County].Name
	}
	return p
}

// degrees is the mean of hundredths of a degree, to a hundredth.
func degrees(sum, n int) float64 {
	return math.Round(float64(sum)/float64(n)) / 100
}

// areaOf is everything that is known of one zipcode or of those of a prefix.
func areaOf(f *facts.Facts, code string, zips []facts.Zip) Area {
	market := f.Markets[mostOften(zips, func(z *facts.Zip) int { return z.Market })]
	a := Area{
		Code: code, Place: placeOf(f, zips), Market: market.Name, marketPrograms: market.Programs,
		BalancingAuthority: f.Authorities[mostOften(zips, func(z *facts.Zip) int { return z.Authority })],
		basis:              zips[0].Basis,
	}
	if len(code) == prefixDigits {
		a.zipcodes = len(zips)
	}
	for _, u := range serving(f, zips) {
		a.Utilities = append(a.Utilities, utilityOf(f.Utilities[u]))
	}
	return a
}

// serving gives the utilities of the zipcodes, the one of most of them first.
func serving(f *facts.Facts, zips []facts.Zip) []int {
	if len(zips) == 1 {
		return f.Territories[zips[0].Territory]
	}
	served := map[int]int{}
	var order []int
	for i := range zips {
		for _, u := range f.Territories[zips[i].Territory] {
			if served[u]++; served[u] == 1 {
				order = append(order, u)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return served[b] - served[a] })
	return order
}

// mostOften is the value that most of the zipcodes have, the smallest on a tie.
func mostOften(zips []facts.Zip, value func(*facts.Zip) int) int {
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
