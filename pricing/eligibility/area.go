package eligibility

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
	"github.com/gridhook/gridhook/pricing/internal/embedded"
)

// Place is the location of a zipcode. Latitude and longitude are to about a kilometer, the
// height is the mean of some 9 km around. City and county are empty for a prefix, as a
// prefix has many. The height is unknown for a zipcode that has its county's coordinates.
type Place struct {
	climate.Place
	City     string
	Timezone string // IANA name
}

// Utility is a utility with its reported data on residential customers.
type Utility = facts.Utility

// Area holds the known facts of a zipcode or a prefix. Areas share their slices: treat
// them as read-only.
type Area struct {
	Code string // five digits, or three digits for a prefix
	Place
	Utilities []Utility // the main one first
	Market    string    // RTO or ISO, such as "PJM"; empty if there is none

	basis      facts.Basis
	zipcodes   int // number of zipcodes of a prefix; 0 for a zipcode
	overridden bool
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

// Covers reports whether the zipcodes of a country are known. A home without a country is in
// the United States.
func Covers(country string) bool { return slices.Contains([]string{"", "US", "USA"}, country) }

// Locate returns the place of a zipcode, for the time zone and the weather of a home. For
// a prefix it returns the most common time zone and the middle. It returns false if the
// zipcode is malformed or unknown.
func Locate(zipcode string) (Place, bool) {
	area, ok := new(Checker).Area(zipcode)
	return area.Place, ok
}

// find returns the facts of a normalized code, nil if the code is unknown.
func find(code string) *facts.Zip {
	rows := known().Zips
	if len(code) == prefixDigits {
		rows = known().Prefixes
	}
	number, _ := strconv.Atoi(code) // it has digits only
	i, found := slices.BinarySearchFunc(rows, number, func(z facts.Zip, code int) int { return z.Code - code })
	if !found {
		return nil
	}
	return &rows[i]
}

func placeOf(z *facts.Zip) Place {
	const hundredth = 100
	f := known()
	county := f.Counties[z.County]
	p := Place{City: f.Cities[z.City], Timezone: f.Zones[z.Zone]}
	p.State, p.County = county.State, county.Name
	p.Lat, p.Lon = float64(z.Lat)/hundredth, float64(z.Lon)/hundredth
	if z.Height != facts.UnknownHeight {
		p.Height, p.HeightKnown = float64(z.Height), true
	}
	return p
}

// areaOf returns all facts of one zipcode or of a prefix.
func areaOf(code string, z *facts.Zip) Area {
	f := known()
	a := Area{Code: code, Place: placeOf(z), Market: f.Markets[z.Market].Name, basis: z.Basis, zipcodes: z.Zipcodes}
	for i, u := range f.Territories[z.Territory] {
		utility := f.Utilities[u]
		utility.Share = f.Shares[z.Territory][i]
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
