package climate

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
	"github.com/gridhook/gridhook/pricing/climate/internal/zone"
)

// Hours and Quarters are the hours and quarter hours of a typical year.
const (
	Hours    = form.Hours
	Quarters = 4 * Hours
)

// Year is the typical year of a climate. It is immutable and safe for concurrent use.
type Year struct {
	Name      string  // of the weather station, such as "Chicago Ohare Intl Ap"
	State     string  // two letters
	Station   string  // number at the World Meteorological Organization
	Source    string  // source of the year, such as "TMY3"
	Zone      string  // climate zone of the IECC with its moisture regime, such as "5A"
	Lat, Lon  float64 // degrees north and east
	Elevation float64 // m
	// Offset is the local standard time of the hours, east of UTC.
	Offset time.Duration
	// HeatingDegreeDays and CoolingDegreeDays are to the base of 65 F, in F days.
	HeatingDegreeDays, CoolingDegreeDays float64

	packed []byte
	once   sync.Once
	hour   *form.Year
}

//go:embed data/stations.txt
var stationsText string

//go:embed data/years.bin
var yearsPacked []byte

// stations returns all 1,020 stations. Stations with an embedded year come first. A year
// is unpacked on first use.
var stations = sync.OnceValue(func() []*Year {
	var all []*Year
	packed := yearsPacked
	for line := range strings.Lines(stationsText) {
		y, size, err := readStation(strings.Split(strings.TrimSpace(line), "\t"))
		if err != nil || size > len(packed) {
			panic(fmt.Sprintf("climate: embedded station %q: %v", line, err)) // the tests read it
		}
		y.packed, packed = packed[:size], packed[size:]
		all = append(all, y)
	}
	return all
})

// All returns the embedded years, sorted by the number of people, greatest first. Do not
// change the slice.
func All() []*Year {
	all := stations()
	return all[:slices.IndexFunc(all, func(y *Year) bool { return len(y.packed) == 0 })]
}

// readStation parses a line of the index. The last field is the size of the year.
func readStation(fields []string) (y *Year, size int, err error) {
	const texts, numbers = 4, 6
	if len(fields) != texts+numbers+1 {
		return nil, 0, fmt.Errorf("%d fields", len(fields))
	}
	var n [numbers]float64
	for i := range n {
		if n[i], err = strconv.ParseFloat(fields[texts+i], 64); err != nil {
			return nil, 0, err
		}
	}
	size, err = strconv.Atoi(fields[texts+numbers])
	return &Year{
		Station: fields[0], Name: fields[1], State: fields[2], Zone: fields[3], Source: "TMY3", Offset: time.Duration(n[0] * float64(time.Hour)),
		Lat: n[1], Lon: n[2], Elevation: n[3], HeatingDegreeDays: n[4], CoolingDegreeDays: n[5],
	}, size, err
}

// DistanceKm returns the great-circle distance from the station to a place.
func (y *Year) DistanceKm(lat, lon float64) float64 { return zone.DistanceKm(y.Lat, y.Lon, lat, lon) }

// hours returns the year and unpacks it on first use.
func (y *Year) hours() *form.Year {
	y.once.Do(func() {
		var err error
		if y.hour, err = form.Decode(y.packed); err != nil {
			panic(fmt.Sprintf("climate: embedded year of %s: %v", y.Name, err)) // the tests read every year
		}
	})
	return y.hour
}
