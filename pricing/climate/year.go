package climate

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
)

// Hours and Quarters are the hours and quarter hours of a typical year.
const (
	Hours    = form.Hours
	Quarters = 4 * Hours
)

// Year is the typical year of a climate. It is immutable and safe for concurrent
// use; its slices are shared, so treat them as read-only.
type Year struct {
	Name      string  // of the weather station, such as "Chicago Ohare Intl Ap"
	State     string  // two letters
	Station   string  // number at the World Meteorological Organization
	Source    string  // of the year, such as "TMY3"
	Lat, Lon  float64 // degrees north and east
	Elevation float64 // m
	// Offset is the local standard time of the hours, east of UTC.
	Offset time.Duration

	file string
	once sync.Once
	hour hourly
}

// hourly are the columns by hour of the year.
type hourly struct {
	temperature, humidity, wind []float64 // at the end of the hour
	ghi, dni, dhi               []float64 // mean over the hour
}

//go:embed data
var data embed.FS

// years reads the index once; a year itself is unpacked when it is first used.
var years = sync.OnceValue(func() []*Year {
	var index []struct {
		File, Location, State, WMO string
		Lat, Lon                   float64
		Offset                     float64 `json:"tz_offset_h"`
		Elevation                  float64 `json:"elev_m"`
	}
	text, err := data.ReadFile("data/index.json")
	if err == nil {
		err = json.Unmarshal(text, &index)
	}
	if err != nil || len(index) == 0 {
		panic(fmt.Sprintf("climate: embedded index: %v", err)) // the tests read it
	}
	all := make([]*Year, len(index))
	for i, s := range index {
		all[i] = &Year{
			Name: s.Location, State: s.State, Station: s.WMO, Source: "TMY3", Lat: s.Lat, Lon: s.Lon,
			Elevation: s.Elevation, Offset: time.Duration(s.Offset * float64(time.Hour)), file: "data/" + s.File,
		}
	}
	return all
})

// All are the embedded years, by name of their file. The slice is the caller's.
func All() []*Year { return append([]*Year(nil), years()...) }

// Nearest is the year of the station that is nearest to a place, in degrees north
// and east. DistanceKm tells how near that is.
func Nearest(lat, lon float64) *Year {
	nearest, least := years()[0], math.Inf(1)
	for _, y := range years() {
		if d := y.DistanceKm(lat, lon); d < least {
			nearest, least = y, d
		}
	}
	return nearest
}

// DistanceKm is the great-circle distance from the station to a place, by the
// haversine formula.
func (y *Year) DistanceKm(lat, lon float64) float64 {
	const earthKm, degree = 6371.0, math.Pi / 180
	dLat, dLon := math.Sin((lat-y.Lat)*degree/2), math.Sin((lon-y.Lon)*degree/2)
	h := dLat*dLat + math.Cos(lat*degree)*math.Cos(y.Lat*degree)*dLon*dLon
	return 2 * earthKm * math.Asin(math.Sqrt(min(1, h)))
}

// hours unpacks the year once.
func (y *Year) hours() *hourly {
	y.once.Do(func() {
		packed, err := data.ReadFile(y.file)
		if err != nil {
			panic(fmt.Sprintf("climate: embedded %s: %v", y.file, err)) // the tests read every year
		}
		columns, err := form.Decode(packed)
		if err != nil {
			panic(fmt.Sprintf("climate: embedded %s: %v", y.file, err))
		}
		y.hour = hourly{
			temperature: columns[0], humidity: columns[1], ghi: columns[2], dni: columns[3], dhi: columns[4], wind: columns[5],
		}
	})
	return &y.hour
}
