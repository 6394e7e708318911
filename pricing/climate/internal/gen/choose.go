package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/climate/internal/zone"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

// place is a zipcode with its climate zone and its share of the county's people.
type place struct {
	lat, lon, people float64
	zone             string
}

func readPlaces(name string, zones map[string]string, people map[string]float64) ([]place, error) {
	rows, err := pack.Table(name)
	if err != nil {
		return nil, err
	}
	count := map[string]float64{}
	for _, row := range rows[1:] {
		count[zone.Key(row[1], row[2])]++
	}
	var places []place
	for _, row := range rows[1:] {
		lat, err1 := strconv.ParseFloat(row[4], 64)
		lon, err2 := strconv.ParseFloat(row[5], 64)
		key := zone.Key(row[1], row[2])
		z := zone.Of(row[1], row[2], zones)
		if err1 != nil || err2 != nil || lat == 0 || z == "" {
			continue
		}
		served := float64(usualPeople)
		if n, known := people[key]; known {
			served = n / count[key]
		}
		places = append(places, place{lat: lat, lon: lon, zone: z, people: served})
	}
	return places, nil
}

// usualPeople is the assumed population of a zipcode in a county without a count.
const usualPeople = 7500

// zoneAt returns the zone of the zipcode nearest to a station.
func zoneAt(s *station, places []place) string {
	z, least := "1A", 300.0 // stations far from all zipcodes are islands
	for i := range places {
		p := &places[i]
		if math.Abs(p.lat-s.Lat) > 3 {
			continue
		}
		if d := climate.DistanceKm(s.Lat, s.Lon, p.lat, p.lon); d < least {
			z, least = p.zone, d
		}
	}
	if least == 300 && s.State == "AK" {
		return "8"
	}
	return z
}

// usual are the original stations of the package, with published figures. They are always
// selected.
var usual = []string{
	"722780", "725650", "722590", "722020", "726980", "724060", "723860", "911820", "727450", "723140", "722190", "725280", "722950", "725300",
}

// faulty are stations whose sunshine is shifted against the sun by more than half an
// hour.
var faulty = map[string]bool{"722255": true}

// choose sorts the stations by the number of people that they serve in addition to
// earlier stations. A station serves a place if its climate is like the climate of the
// nearest station in the place's zone. The limits are 12 % of degree days, 6 % of
// sunshine, 300 m of height and 100 km.
func choose(stations []station, places []place) []station {
	serves := make([][]int, len(stations))
	for i := range places {
		best, km := nearest(stations, &places[i])
		if best < 0 {
			continue
		}
		for j := range stations {
			if stations[j].zone == places[i].zone && !faulty[stations[j].ID] && math.Abs(stations[j].Lat-places[i].lat) < 2 && alike(&stations[j], &stations[best]) &&
				climate.DistanceKm(stations[j].Lat, stations[j].Lon, places[i].lat, places[i].lon) <= max(100, km) {
				serves[j] = append(serves[j], i)
			}
		}
	}
	served := make([]bool, len(places))
	var order []station
	take := func(j int) {
		for _, i := range serves[j] {
			served[i] = true
		}
		order, serves[j] = append(order, stations[j]), nil
	}
	for _, id := range usual {
		take(slices.IndexFunc(stations, func(s station) bool { return s.ID == id }))
	}
	for {
		best, most := -1, 0.0
		for j := range serves {
			sum := 0.0
			for _, i := range serves[j] {
				if !served[i] {
					sum += places[i].people
				}
			}
			if sum > most {
				best, most = j, sum
			}
		}
		if best < 0 {
			return order
		}
		take(best)
	}
}

func nearest(stations []station, p *place) (best int, km float64) {
	best, km = -1, math.Inf(1)
	for j := range stations {
		if s := &stations[j]; s.zone == p.zone {
			if d := climate.DistanceKm(s.Lat, s.Lon, p.lat, p.lon); d < km {
				best, km = j, d
			}
		}
	}
	return best, km
}

func alike(a, b *station) bool {
	within := func(x, y, share, least float64) bool { return math.Abs(x-y) <= max(share*y, least) }
	return within(a.Heating, b.Heating, 0.12, 80) && within(a.Cooling, b.Cooling, 0.12, 80) && within(a.Sun, b.Sun, 0.06, 0) && within(a.Elevation, b.Elevation, 0, 300)
}
