package solar

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// TypicalAnnualKWh is what a US home draws in a year where nothing better is
// known: the mean of residential customers in 2022, by the Energy Information
// Administration.
const TypicalAnnualKWh = 10791

// Load is how a home's use of energy is spread over the year, by month and hour
// of the local day. It is immutable.
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
		l.share[i/24][i%24] = float64(v) / steps
	}
	return l, nil
}

// NearestLoad is the load of the city that is nearest to a place, in degrees north
// and east.
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

// Power is the mean load in a month (0 is January) at a time of the local day in
// hours, in kW per kWh a year, on the line between the middles of the hours.
func (l *Load) Power(month int, hours float64) float64 {
	const day = 24
	at := math.Mod(hours-0.5+day, day)
	hour := int(at)
	part := at - float64(hour)
	return l.share[month][hour]*(1-part) + l.share[month][(hour+1)%day]*part
}
