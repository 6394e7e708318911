package carbon

import (
	_ "embed"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing/internal/embedded"
	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// Region is a part of the grid with the same source for one more kWh: a region of EPA's
// AVERT. It is immutable.
type Region struct {
	Code string // such as "CA", "MIDA", "TE"
	// Means are the emissions of one more kWh by month and hour of the local day, lb CO2.
	Means [12][24]float64
	// Deviations are those of single hours from their means, at even quantiles.
	Deviations [20]float64
}

// County is a county in a region. Without a name it stands for the other counties of its
// state.
type County struct{ State, Name, Region string }

// Data are the embedded regions and counties.
type Data struct {
	Regions  []Region
	Counties []County
}

//go:embed data.bin
var packed []byte

// place is a county, or a whole state.
type place struct{ state, county string }

// regions returns the regions by code and by place.
var regions = sync.OnceValues(func() (byCode map[string]*Region, byPlace map[place]*Region) {
	data := embedded.Decode[Data]("data.bin", packed)
	byCode, byPlace = map[string]*Region{}, map[place]*Region{}
	for i := range data.Regions {
		byCode[data.Regions[i].Code] = &data.Regions[i]
	}
	for _, c := range data.Counties {
		byPlace[place{c.State, plain.County(c.Name)}] = byCode[c.Region]
	}
	return byCode, byPlace
})

// Named returns the region with a code.
func Named(code string) (*Region, bool) {
	byCode, _ := regions()
	r, ok := byCode[strings.ToUpper(strings.TrimSpace(code))]
	return r, ok
}

// Of returns the region of a county of a state (two letters). An unknown or empty county
// has the region of most counties of its state.
func Of(state, county string) (*Region, bool) {
	state = strings.ToUpper(strings.TrimSpace(state))
	_, byPlace := regions()
	r, ok := byPlace[place{state, plain.County(county)}]
	if !ok {
		r, ok = byPlace[place{state: state}]
	}
	return r, ok
}

// Rate returns the emissions of one more kWh in an hour (0 to 23) of the local day, in lb
// CO2. It is the mean of that hour over the month.
func (r *Region) Rate(month time.Month, hour int) float64 { return r.Means[month-1][hour] }

// Within returns the share of hours whose emissions differ from Rate by at most
// tolerance. tolerance is in lb CO2 a kWh. The share is rounded down to hundredths.
func (r *Region) Within(tolerance float64) float64 {
	share, before := 0.0, 0.0
	for _, off := range r.Deviations {
		if tolerance < off {
			share += (tolerance - before) / (off - before)
			break
		}
		share, before = share+1, off
	}
	return math.Floor(100*share/float64(len(r.Deviations))) / 100
}
