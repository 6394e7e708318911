package climate_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/climate/internal/state"
	"github.com/gridhook/gridhook/pricing/eligibility"
)

// TestChoose_ClimateOfPlace checks places that once had the climate of another city:
// Los Angeles, Las Vegas, Atlanta, Duluth, Phoenix and Portland, Oregon.
func TestChoose_ClimateOfPlace(t *testing.T) {
	for _, tt := range []struct {
		name             string
		place            climate.Place
		zone             string
		heating, cooling float64 // degree days of the city's own station, base 65 F
	}{
		{"Fresno", climate.Place{Lat: 36.74, Lon: -119.79, State: "CA", County: "Fresno"}, "3B", 2350, 2150},
		{"Salt Lake City", climate.Place{Lat: 40.76, Lon: -111.89, State: "UT", County: "Salt Lake"}, "5B", 5570, 1090},
		{"New Orleans", climate.Place{Lat: 29.95, Lon: -90.07, State: "LA", County: "Orleans"}, "2A", 1350, 2830},
		{"Minneapolis", climate.Place{Lat: 44.98, Lon: -93.27, State: "MN", County: "Hennepin"}, "6A", 7600, 700},
		{"Albuquerque", climate.Place{Lat: 35.08, Lon: -106.65, State: "NM", County: "Bernalillo"}, "4B", 4100, 1300},
		{"Anchorage", climate.Place{Lat: 61.22, Lon: -149.9, State: "AK", County: "Anchorage"}, "7", 10000, 5},
		{"Duluth", climate.Place{Lat: 46.79, Lon: -92.1, State: "MN", County: "St. Louis"}, "7A", 9650, 180},
	} {
		c := climate.Choose(tt.place)
		if c.State != tt.place.State || c.Km > 30 || c.Zone != tt.zone || !c.SameZone() || c.Error() > 0.2 {
			t.Errorf("%s: %s, %s at %.0f km in zone %s (home %s)", tt.name, c.Name, c.State, c.Km, c.Zone, c.HomeZone)
		}
		if math.Abs(c.HeatingDegreeDays/tt.heating-1) > 0.12 || math.Abs(c.CoolingDegreeDays-tt.cooling) > max(0.2*tt.cooling, 150) {
			t.Errorf("%s: %s has %.0f heating and %.0f cooling degree days, want %v and %v", tt.name, c.Name, c.HeatingDegreeDays, c.CoolingDegreeDays, tt.heating, tt.cooling)
		}
	}
}

// Every county of the zipcodes has a zone, except two that are in another state and a city
// that no longer exists.
func TestChoose_ZoneOfEveryCounty(t *testing.T) {
	unknown := map[string]bool{}
	for code := range 100_000 {
		if p, ok := eligibility.Locate(fmt.Sprintf("%05d", code)); ok && p.At(climate.All()[0]).HomeZone == "" {
			unknown[p.State+" "+p.County] = true
		}
	}
	if got := slices.Sorted(maps.Keys(unknown)); !slices.Equal(got, []string{"CO Mohave", "GA Phelps", "VA Clifton Forge City"}) {
		t.Errorf("without a zone: %q", got)
	}
}

// zipcode is a place with its population.
type zipcode struct {
	code   string
	place  climate.Place
	people float64
}

// TestChoose_NearBestOfZone takes 200 zipcodes at even steps through the population of
// the United States. It finds the best of all 1,020 stations with its own zones,
// distances and rule. The degree days of the chosen station differ by at most 15 %, or
// by 150 F days if there are few. The chosen station is within 100 km and 300 m if the
// best station is, with few exceptions, because 6 MB hold only 541 stations.
func TestChoose_NearBestOfZone(t *testing.T) {
	zips, zones := zipcodes(t)
	total := 0.0
	for _, z := range zips {
		total += z.people
	}
	const samples, maxFar = 200, 6
	stations := zonedStations(t, zips, zones)
	passed, taken, far := 0.0, 0, 0
	for _, z := range zips {
		if passed += z.people; passed < total*(float64(taken)+0.5)/samples {
			continue
		}
		taken++
		located, _ := eligibility.Locate(z.code)
		place := located.Place
		best := bestOf(stations[zoneOf(place.State, place.County, zones)], place)
		c := climate.Choose(place)
		near := func(got, want float64) bool { return math.Abs(got-want) <= max(0.15*want, 150) }
		if !slices.ContainsFunc(best, func(s listed) bool {
			return near(c.HeatingDegreeDays, s.Heating) && near(c.CoolingDegreeDays, s.Cooling)
		}) {
			t.Errorf("%s: %s at %.0f km and %.0f m above with %.0f and %.0f degree days, unlike %+v", z.code, c.Name, c.Km, c.MetersUp, c.HeatingDegreeDays, c.CoolingDegreeDays, best)
		}
		if len(best) == 1 && (c.Km > 100 || place.HeightKnown && math.Abs(c.MetersUp) > 300) {
			far++
			t.Logf("%s: %s at %.0f km and %.0f m above; the best is %+v", z.code, c.Name, c.Km, c.MetersUp, best)
		}
	}
	t.Logf("%d of %d zipcodes have a station beyond 100 km or 300 m although a better one exists", far, taken)
	if taken != samples || far > maxFar {
		t.Errorf("%d of %d zipcodes have a far station, want at most %d", far, taken, maxFar)
	}
}

// bestOf returns the nearest station of those within 300 m of the place's height, if it is
// within 100 km. Otherwise it returns two: this one and the nearest of all.
func bestOf(stations []listed, p climate.Place) []listed {
	var level, nearest listed
	levelKm, nearestKm := math.Inf(1), math.Inf(1)
	for _, s := range stations {
		km := apart(s.Lat, s.Lon, p.Lat, p.Lon)
		if km < nearestKm {
			nearest, nearestKm = s, km
		}
		if km < levelKm && (!p.HeightKnown || math.Abs(s.Elevation-p.Height) <= 300) {
			level, levelKm = s, km
		}
	}
	if levelKm <= 100 {
		return []listed{level}
	}
	return []listed{level, nearest}
}

// apart returns the distance of two places in km, by the angle between their directions
// from the middle of the earth.
func apart(lat1, lon1, lat2, lon2 float64) float64 {
	direction := func(lat, lon float64) [3]float64 {
		lat, lon = lat*math.Pi/180, lon*math.Pi/180
		return [3]float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
	}
	a, b, cosine := direction(lat1, lon1), direction(lat2, lon2), 0.0
	for i := range a {
		cosine += a[i] * b[i]
	}
	return 6371 * math.Acos(min(1, cosine))
}

// zoneOf returns the zone of a county in the source. The source has the 48 states. The
// District of Columbia is in zone 4A (IECC, table R301.1). Each other state is a zone of
// its own here.
func zoneOf(state, county string, zones map[string]string) string {
	if state == "DC" {
		return "4A"
	}
	if z, ok := zones[countyKey(state, county)]; ok {
		return z
	}
	return state
}

var notALetter = regexp.MustCompile("( (county|parish|city|borough|municipality|census area)$|[^a-z])")

// countyKey returns the letters of a county's name without its kind.
func countyKey(state, county string) string {
	return state + notALetter.ReplaceAllString(strings.Replace(strings.ToLower(county), "saint ", "st ", 1), "")
}

// TestHeights_MatchStations compares the heights of zipcodes with the heights of
// stations within 3 km, an independent source.
func TestHeights_MatchStations(t *testing.T) {
	all := slices.Collect(maps.Values(index(t)))
	squares, near, pairs := 0.0, 0, 0
	for code := range 100_000 {
		place, ok := eligibility.Locate(fmt.Sprintf("%05d", code))
		if !ok || !place.HeightKnown {
			continue
		}
		for _, s := range all {
			if math.Abs(s.Lat-place.Lat) > 0.03 || math.Abs(s.Lon-place.Lon) > 0.1 || apart(s.Lat, s.Lon, place.Lat, place.Lon) > 3 {
				continue
			}
			off := place.Height - s.Elevation
			squares, pairs = squares+off*off, pairs+1
			if math.Abs(off) <= 50 {
				near++
			}
		}
	}
	rms, share := math.Sqrt(squares/float64(pairs)), float64(near)/float64(pairs)
	t.Logf("%d pairs: %.0f m root mean square, %.2f within 50 m", pairs, rms, share)
	if pairs < 500 || rms > 90 || share < 0.8 {
		t.Errorf("%d pairs: %.0f m root mean square, %.2f within 50 m", pairs, rms, share)
	}
}

// For held-out stations, the choice by zone, distance and height has a smaller error of
// degree days than the choice by zone and distance. Its error is the stated one.
func TestChoose_HeightHelps(t *testing.T) {
	zips, zones := zipcodes(t)
	by := map[string]float64{}
	stated, count := 0.0, 0.0
	for z, list := range zonedStations(t, zips, zones) {
		for _, home := range list {
			if home.State == "AK" || home.State == "HI" || z == "" {
				continue
			}
			choose := func(height bool) climate.Choice {
				p := climate.Place{Lat: home.Lat, Lon: home.Lon, Height: home.Elevation, HeightKnown: height}
				var best climate.Choice
				for _, y := range climate.All() {
					if y.DistanceKm(p.Lat, p.Lon) > 1000 {
						continue
					}
					c := p.At(y)
					if c.HomeZone = z; y.Station != home.ID && (best.Year == nil || c.Remoteness() < best.Remoteness()) {
						best = c
					}
				}
				off := 2 * (math.Abs(home.Heating-best.HeatingDegreeDays) + math.Abs(home.Cooling-best.CoolingDegreeDays)) /
					(home.Heating + home.Cooling + best.HeatingDegreeDays + best.CoolingDegreeDays)
				by[fmt.Sprint("height known: ", height)] += off * off
				return best
			}
			choose(false)
			c := choose(true)
			stated, count = stated+c.Error()*c.Error(), count+1
		}
	}
	without, with := math.Sqrt(by["height known: false"]/count), math.Sqrt(by["height known: true"]/count)
	claim := math.Sqrt(stated / count)
	t.Logf("%.0f stations: %.3f without heights, %.3f with them, %.3f stated", count, without, with, claim)
	if with > 0.97*without || claim < 0.85*with || claim > 1.3*with {
		t.Errorf("%.0f stations: %.3f without heights, %.3f with them, %.3f stated", count, without, with, claim)
	}
}

// zipcodes returns the zipcodes with coordinates of their own and a known zone, and the
// zones of counties.
func zipcodes(t *testing.T) (zips []zipcode, zones map[string]string) {
	t.Helper()
	zones = map[string]string{}
	people, count := map[string]float64{}, map[string]float64{}
	for _, row := range table(t, "weather", "county_climate_zones.csv")[1:] {
		key := countyKey(state.Codes[row[1]], row[2])
		zones[key] = row[7] + row[8]
		people[key], _ = strconv.ParseFloat(row[5], 64)
	}
	rows := table(t, "geo", "zip_master.csv")[1:]
	for _, row := range rows {
		count[countyKey(row[1], row[2])]++
	}
	for _, row := range rows {
		lat, _ := strconv.ParseFloat(row[4], 64)
		lon, _ := strconv.ParseFloat(row[5], 64)
		key := countyKey(row[1], row[2])
		if lat != 0 {
			zips = append(zips, zipcode{row[0], climate.Place{Lat: lat, Lon: lon, State: row[1], County: row[2]}, people[key] / count[key]})
		}
	}
	return zips, zones
}

// stationsOfZones are all stations of the source by the zone of the nearest zipcode. The
// tests share them, as they take a second.
var stationsOfZones map[string][]listed

func zonedStations(t *testing.T, zips []zipcode, zones map[string]string) map[string][]listed {
	t.Helper()
	if stationsOfZones != nil {
		return stationsOfZones
	}
	stationsOfZones = map[string][]listed{}
	for _, s := range index(t) {
		of, least := "", math.Inf(1)
		for i := range zips {
			p := &zips[i].place
			if math.Abs(p.Lat-s.Lat) > 1 || math.Abs(p.Lon-s.Lon) > 5 {
				continue
			}
			if km := apart(s.Lat, s.Lon, p.Lat, p.Lon); km < least {
				of, least = zoneOf(p.State, p.County, zones), km
			}
		}
		stationsOfZones[of] = append(stationsOfZones[of], s)
	}
	return stationsOfZones
}

func table(t *testing.T, path ...string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(testdata(t, path...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The stated error of a choice was measured between pairs of stations at the same
// distance, within 300 m of height, in one zone or in two.
func TestChoose_Error(t *testing.T) {
	zips, zones := zipcodes(t)
	type bin struct {
		same bool
		km   int // in hundreds
	}
	squares, count := map[bin]float64{}, map[bin]float64{}
	var all []listed
	var of []string
	for z, list := range zonedStations(t, zips, zones) {
		for _, s := range list {
			if s.State != "AK" && s.State != "HI" && z != "" {
				all, of = append(all, s), append(of, z)
			}
		}
	}
	for i, a := range all {
		for j, b := range all[:i] {
			if math.Abs(a.Lat-b.Lat) > 4 {
				continue
			}
			km := apart(a.Lat, a.Lon, b.Lat, b.Lon)
			if km > 400 || math.Abs(a.Elevation-b.Elevation) > 300 {
				continue
			}
			off := 2 * (math.Abs(a.Heating-b.Heating) + math.Abs(a.Cooling-b.Cooling)) / (a.Heating + a.Cooling + b.Heating + b.Cooling)
			at := bin{of[i] == of[j], int(km / 100)}
			squares[at], count[at] = squares[at]+off*off, count[at]+1
		}
	}
	if len(count) != 8 {
		t.Fatalf("%d bins", len(count))
	}
	for at, sum := range squares {
		c := climate.Choice{Year: &climate.Year{Zone: "5A"}, Km: 100*float64(at.km) + 50, HomeZone: "5A"}
		if !at.same {
			c.HomeZone = "4A"
		}
		if want := math.Sqrt(sum / count[at]); math.Abs(c.Error()/want-1) > 0.1 {
			t.Errorf("%+v: %.3f, %.0f pairs have %.3f", at, c.Error(), count[at], want)
		}
	}
}
