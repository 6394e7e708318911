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
}

// Choice is the typical year for a place, with its distance and climate zone.
type Choice struct {
	*Year
	Km       float64 // from the station to the place
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
	otherZone  = 300  // a climate zone other than the home's
	difference = 1000 // degree days that differ by 100 %
)

// Choose returns the typical year for a place. It first selects the nearest station of
// the place's climate zone. A station of another zone wins if it is nearer by otherZone
// km. If the year of the selected station is not embedded, Choose returns the nearest
// embedded year with a similar zone and similar degree days.
func Choose(p Place) Choice {
	choice := Choice{HomeZone: zone.Of(p.State, p.County, zones())}
	score := func(y *Year) float64 {
		km := y.DistanceKm(p.Lat, p.Lon)
		if choice.HomeZone != "" && y.Zone != choice.HomeZone {
			km += otherZone
		}
		return km
	}
	best := least(stations(), score)
	choice.Year = least(All(), func(y *Year) float64 { return score(y) + difference*unlike(y, best) })
	choice.Km = choice.DistanceKm(p.Lat, p.Lon)
	return choice
}

func least(list []*Year, score func(*Year) float64) *Year {
	best, lowest := list[0], math.Inf(1)
	for _, y := range list {
		if v := score(y); v < lowest {
			best, lowest = y, v
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
func (c *Choice) SameZone() bool { return c.HomeZone == c.Zone }

// Error returns the standard error of the place's degree days, as a share. It depends on
// the distance and on a change of zone. Its constants are measured on the pairs of the
// 1,020 stations (SOURCES.md).
func (c *Choice) Error() float64 {
	const near, per100Km, other = 0.018, 0.0115, 0.028
	variance := near + per100Km*c.Km/100
	if !c.SameZone() {
		variance += other
	}
	return math.Sqrt(variance)
}
