package solar

import (
	_ "embed"
	"math"
	"sync"

	"github.com/gridhook/gridhook/pricing/internal/embedded"
)

// TypicalAnnualKWh is the default yearly use of a US home. It is the mean of residential
// customers in 2022, by the Energy Information Administration.
const TypicalAnnualKWh = 10791

// Load is the distribution of a house's energy use over the year. The months are from the
// nearest city, the hours from a house. Load is immutable.
type Load struct {
	City     string
	Lat, Lon float64
	// Share is the share of the year's energy in an hour, by month and hour of the local
	// day.
	Share [12][24]float64
}

//go:embed load.bin
var loadPacked []byte

var loads = sync.OnceValue(func() []Load { return embedded.Decode[[]Load]("load.bin", loadPacked) })

// NearestLoad returns the load of the city nearest to a place, in degrees north and east.
func NearestLoad(lat, lon float64) *Load {
	nearest, least := 0, math.Inf(1)
	for i, l := range loads() {
		east := (lon - l.Lon) * math.Cos(lat*degree)
		if d := math.Hypot(lat-l.Lat, east); d < least {
			nearest, least = i, d
		}
	}
	return &loads()[nearest]
}

// Power returns the mean load in a month (0 is January) at a time of the local day in
// hours. The unit is kW per kWh a year. Power interpolates linearly between the middles
// of the hours.
func (l *Load) Power(month int, hours float64) float64 {
	const day = 24
	at := math.Mod(hours-0.5+day, day)
	hour := int(at)
	part := at - float64(hour)
	return l.Share[month][hour]*(1-part) + l.Share[month][(hour+1)%day]*part
}
