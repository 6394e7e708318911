package compile

import (
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// place is a line of the table of zipcodes.
type place struct {
	zip, state, county, city, zone string
	lat, lon                       float64
	shared                         bool // another zipcode has the same coordinates
}

func readPlaces(files fs.FS) ([]place, error) {
	rows, err := table(files, "geo/zip_master.csv")
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
	type county struct{ state, name string }
	lats, lons := map[county][]float64{}, map[county][]float64{}
	seen := map[place]bool{}
	for _, p := range places {
		spot := place{state: p.state, county: p.county, lat: p.lat, lon: p.lon}
		if math.IsNaN(p.lat) || seen[spot] {
			continue
		}
		seen[spot] = true
		key := county{p.state, p.county}
		lats[key], lons[key] = append(lats[key], p.lat), append(lons[key], p.lon)
	}
	for i := range places {
		p := &places[i]
		key := county{p.state, p.county}
		lat, lon := median(lats[key]), median(lons[key])
		far := float64(farKm)
		if p.state == "AK" {
			far = farKmAlaska
		}
		if math.IsNaN(p.lat) || distanceKm(p.lat, p.lon, lat, lon) > far {
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

// distanceKm returns the great-circle distance by the haversine formula.
func distanceKm(lat1, lon1, lat2, lon2 float64) float64 {
	const earthKm, degree = 6371.0, math.Pi / 180
	lat, lon := math.Sin((lat2-lat1)*degree/2), math.Sin((lon2-lon1)*degree/2)
	h := lat*lat + math.Cos(lat1*degree)*math.Cos(lat2*degree)*lon*lon
	return 2 * earthKm * math.Asin(math.Sqrt(min(1, h)))
}

// countySuffixes are the suffixes of county names in one of the tables.
var countySuffixes = []string{
	" County", " Parish", " City and Borough", " Borough", " Census Area", " Municipality", " city",
}

// countyKey returns the same key for all spellings of a county's name. The tables differ
// in suffix, punctuation, spaces and "Saint".
func countyKey(state, name string) string {
	for _, suffix := range countySuffixes {
		if short, cut := strings.CutSuffix(name, suffix); cut {
			name = short
			break
		}
	}
	name = strings.ToLower(name)
	name = strings.ReplaceAll(strings.ReplaceAll(name, "sainte ", "ste "), "saint ", "st ")
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, name)
	return state + " " + letters
}
