package solar

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// TypicalAnnualKWh is the default yearly use of a US home. It is the mean of residential
// customers in 2022, by the Energy Information Administration.
const TypicalAnnualKWh = 10791

// Load is the distribution of a house's energy use over the year, by month and hour of
// the local day. The months are from the nearest city, the hours from a house. Load is
// immutable.
type Load struct {
	City     string
	Lat, Lon float64
	share    [12][24]float64 // of the year's energy, in an hour
}

//go:embed load.txt
var loadText string

var loads = sync.OnceValue(func() []Load {
	var list []Load
	for line := range strings.Lines(loadText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		l, err := parseLoad(strings.TrimSuffix(line, "\n"))
		if err != nil {
			panic(fmt.Sprintf("solar: embedded load.txt: %v", err)) // the tests read every line
		}
		list = append(list, l)
	}
	return list
})

func parseLoad(line string) (l Load, err error) {
	const steps = 1e7
	fields := strings.Split(line, "\t")
	if len(fields) != 4 {
		return l, fmt.Errorf("%d fields", len(fields))
	}
	l.City = fields[0]
	if l.Lat, err = strconv.ParseFloat(fields[1], 64); err != nil {
		return l, err
	}
	if l.Lon, err = strconv.ParseFloat(fields[2], 64); err != nil {
		return l, err
	}
	words := strings.Fields(fields[3])
	if len(words) != 12*24 {
		return l, fmt.Errorf("%s: %d hours", l.City, len(words))
	}
	for i, word := range words {
		v, err := strconv.Atoi(word)
		if err != nil {
			return l, err
		}
		month := &l.share[i/24]
		for hour := range month {
			month[hour] += float64(v) / steps / 24 * day[hour] / 1000
		}
	}
	return l, nil
}

// day is the distribution of a house's daily energy over the hours, in 0.001 of the mean.
// It is from the house of OpenStudio-HPXML's bill calculation tests. The cities' tables
// describe apartments with a lower use at midday, but homes with solar are houses.
var day = [24]float64{533, 483, 456, 459, 505, 611, 871, 1027, 1080, 1204, 1247, 1249, 1224, 1210, 1208, 1245, 1350, 1460, 1413, 1335, 1252, 1083, 842, 653}

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
	return l.share[month][hour]*(1-part) + l.share[month][(hour+1)%day]*part
}
