package climate

import (
	_ "embed"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
	"github.com/gridhook/gridhook/pricing/internal/embedded"
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

	// Size is the size of the packed hours in bytes, 0 if the year is not embedded.
	Size int

	hours func() *form.Year // unpacks the year on first use
}

//go:embed data/stations.bin
var stationsPacked []byte

//go:embed data/years.bin
var yearsPacked []byte

// stations returns all 1,020 stations. Stations with an embedded year come first.
var stations = sync.OnceValue(func() []*Year {
	all := embedded.Decode[[]*Year]("stations.bin", stationsPacked)
	from := 0
	for _, y := range all {
		packed := yearsPacked[from : from+y.Size]
		y.hours, from = sync.OnceValue(func() *form.Year { return unpack(packed) }), from+y.Size
	}
	return all
})

func unpack(packed []byte) *form.Year {
	year := embedded.Decode[form.Year]("years.bin", packed)
	temperature := int8(0)
	for hour := range form.Hours {
		temperature += year.Temperature[hour]
		year.Temperature[hour] = temperature
		year.Sun[hour*form.Suns+form.GHI] += year.Sun[hour*form.Suns+form.DHI]
	}
	return &year
}

// All returns the embedded years, sorted by the number of people, greatest first. Do not
// change the slice.
func All() []*Year {
	all := stations()
	return all[:slices.IndexFunc(all, func(y *Year) bool { return y.Size == 0 })]
}

// DistanceKm returns the great-circle distance from the station to a place.
func (y *Year) DistanceKm(lat, lon float64) float64 { return DistanceKm(y.Lat, y.Lon, lat, lon) }

// DistanceKm returns the great-circle distance between two places in degrees north and
// east, by the haversine formula.
func DistanceKm(lat1, lon1, lat2, lon2 float64) float64 {
	const earthKm, degree = 6371.0, math.Pi / 180
	dLat, dLon := math.Sin((lat1-lat2)*degree/2), math.Sin((lon1-lon2)*degree/2)
	h := dLat*dLat + math.Cos(lat1*degree)*math.Cos(lat2*degree)*dLon*dLon
	return 2 * earthKm * math.Asin(math.Sqrt(min(1, h)))
}
