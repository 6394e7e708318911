package compile

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// place is a line of the table of zipcodes.
type place struct {
	zip, state, county, city, zone string
	lat, lon                       float64
	shared                         bool // another zipcode has the same coordinates
}

// countyKey returns the same key for all spellings of a county's name.
func countyKey(state, county string) string { return state + " " + plain.County(county) }

func readPlaces(dir string) ([]place, error) {
	rows, err := table(dir, "geo/zip_master.csv")
	if err != nil {
		return nil, err
	}
	places := make([]place, 0, len(rows))
	for _, r := range rows {
		lat, latErr := strconv.ParseFloat(r["lat"], 64)
		lon, lonErr := strconv.ParseFloat(r["lon"], 64)
		if latErr != nil || lonErr != nil || lat == 0 && lon == 0 {
			lat, lon = math.NaN(), math.NaN()
		}
		places = append(places, place{r["zip"], r["state"], r["county"], r["city"], r["tz"], lat, lon, false})
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.zip, b.zip) })
	places = slices.CompactFunc(places, func(a, b place) bool { return a.zip == b.zip })
	mendCoordinates(places)
	markShared(places)
	return places, nil
}

// markShared marks the zipcodes that have the coordinates of their county. Several
// zipcodes share them.
func markShared(places []place) {
	count := map[[2]float64]int{}
	for i := range places {
		count[[2]float64{places[i].lat, places[i].lon}]++
	}
	for i := range places {
		places[i].shared = count[[2]float64{places[i].lat, places[i].lon}] > 1
	}
}

// The maximum distance of a zipcode from the middle of its county, in Alaska and
// elsewhere.
const (
	farKm       = 250
	farKmAlaska = 1500
)

// mendCoordinates replaces wrong coordinates by the middle of the county. Wrong
// coordinates are absent, zero, mirrored or too far away. The middle is the median of the
// county's distinct coordinates. They are distinct because the source repeats the
// county's own coordinates for many zipcodes.
func mendCoordinates(places []place) {
	lats, lons := map[string][]float64{}, map[string][]float64{}
	seen := map[place]bool{}
	for _, p := range places {
		spot := place{state: p.state, county: p.county, lat: p.lat, lon: p.lon}
		if math.IsNaN(p.lat) || seen[spot] {
			continue
		}
		seen[spot] = true
		key := countyKey(p.state, p.county)
		lats[key], lons[key] = append(lats[key], p.lat), append(lons[key], p.lon)
	}
	for i := range places {
		p := &places[i]
		key := countyKey(p.state, p.county)
		lat, lon := median(lats[key]), median(lons[key])
		far := float64(farKm)
		if p.state == "AK" {
			far = farKmAlaska
		}
		if math.IsNaN(p.lat) || climate.DistanceKm(p.lat, p.lon, lat, lon) > far {
			p.lat, p.lon = lat, lon
		}
	}
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
