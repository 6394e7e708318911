package climate

import (
	_ "embed"
	"math"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing/climate/internal/zone"
)

// Place is the location of a home. State and County determine its climate zone; they may
// be empty.
type Place struct {
	Lat, Lon      float64 // degrees north and east
	State, County string  // two letters, and the name
	Height        float64 // m above the sea, if HeightKnown
	HeightKnown   bool
}

// Choice is the typical year for a place, with its differences from the place.
type Choice struct {
	*Year
	Km       float64 // from the station to the place
	MetersUp float64 // from the place up to the station; 0 if unknown
	HomeZone string  // climate zone of the place, such as "5A"; empty if unknown
}

//go:embed data/zones.txt
var zonesText string

// zones are the climate zones of counties by zone.Key.
var zones = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(zonesText) {
		words := strings.Fields(line)
		for _, county := range words[2:] {
			all[words[0]+" "+county] = words[1]
		}
	}
	return all
})

// The penalties of a station, in km.
const (
	otherZone   = 300  // a climate zone other than the home's
	otherHeight = 100  // more than level above or below the home
	difference  = 1000 // degree days that differ by 100 %
	level       = 300  // m
)

// Choose returns the typical year for a place. It first selects the least remote of all
// stations. If the year of that station is not embedded, Choose returns an embedded year
// that is little more remote and has similar degree days.
func Choose(p Place) Choice {
	z := zone.Of(p.State, p.County, zones())
	at := func(y *Year) Choice { return p.choice(y, z) }
	best := lowest(stations(), func(y *Year) float64 { return at(y).Remoteness() })
	return at(lowest(All(), func(y *Year) float64 { return at(y).Remoteness() + difference*unlike(y, best) }))
}

// At returns the choice of a given year for a place.
func (p Place) At(y *Year) Choice { return p.choice(y, zone.Of(p.State, p.County, zones())) }

func (p *Place) choice(y *Year, homeZone string) Choice {
	c := Choice{Year: y, Km: y.DistanceKm(p.Lat, p.Lon), HomeZone: homeZone}
	if p.HeightKnown {
		c.MetersUp = y.Elevation - p.Height
	}
	return c
}

// lowest returns the year with the lowest score.
func lowest(list []*Year, score func(*Year) float64) *Year {
	best, minScore := list[0], math.Inf(1)
	for _, y := range list {
		if v := score(y); v < minScore {
			best, minScore = y, v
		}
	}
	return best
}

// unlike returns the difference in degree days of two stations, as a share.
func unlike(a, b *Year) float64 {
	const few = 1000 // smallest divisor of a difference in degree days
	share := func(x, y float64) float64 { return math.Abs(x-y) / max(y, few) }
	return share(a.HeatingDegreeDays, b.HeatingDegreeDays) + share(a.CoolingDegreeDays, b.CoolingDegreeDays)
}

// SameZone reports whether the station has the known climate zone of the place.
func (c Choice) SameZone() bool { return c.HomeZone == c.Zone }

// Remoteness returns the distance in km, with a penalty for another climate zone and one
// for another height.
func (c Choice) Remoteness() float64 {
	km := c.Km
	if c.HomeZone != "" && !c.SameZone() {
		km += otherZone
	}
	if math.Abs(c.MetersUp) > level {
		km += otherHeight
	}
	return km
}

// Error returns the standard error of the place's degree days, as a share. It depends on
// the distance, a change of zone and the difference in height beyond level. Its constants
// are measured on the pairs of the 1,020 stations (SOURCES.md).
func (c Choice) Error() float64 {
	const near, per100Km, other, perKm2 = 0.018, 0.0115, 0.028, 0.5
	variance := near + per100Km*c.Km/100 + perKm2*math.Pow(max(0, math.Abs(c.MetersUp)-level)/1000, 2)
	if !c.SameZone() {
		variance += other
	}
	return math.Sqrt(variance)
}
