// Gen writes the embedded load shapes of package solar. It reads the table in SOURCES.md
// from the directory data of GRIDHOOK_TESTDATA.
package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
	"github.com/gridhook/gridhook/pricing/solar"
)

// cities are the columns of the table with degrees north and east.
var cities = []struct {
	column, name string
	lat, lon     float64
}{
	{"Albuquerque", "Albuquerque NM", 35.08, -106.65}, {"Atlanta", "Atlanta GA", 33.75, -84.39}, {"Baltimore", "Baltimore MD", 39.29, -76.61},
	{"Boulder", "Boulder CO", 40.01, -105.27}, {"Chicago", "Chicago IL", 41.88, -87.63}, {"Houston", "Houston TX", 29.76, -95.37},
	{"LasVegas", "Las Vegas NV", 36.17, -115.14}, {"LosAngeles", "Los Angeles CA", 34.05, -118.24}, {"Miami", "Miami FL", 25.76, -80.19},
	{"Minneapolis", "Minneapolis MN", 44.98, -93.27}, {"Phoenix", "Phoenix AZ", 33.45, -112.07},
	{"SanFrancisco", "San Francisco CA", 37.77, -122.42}, {"Seattle", "Seattle WA", 47.61, -122.33},
}

// day is the distribution of a house's daily energy over the hours, in 0.001 of the mean.
// It is from the house of OpenStudio-HPXML's bill calculation tests. The cities' tables
// describe apartments with a lower use at midday, but homes with solar are houses.
var day = [24]float64{533, 483, 456, 459, 505, 611, 871, 1027, 1080, 1204, 1247, 1249, 1224, 1210, 1208, 1245, 1350, 1460, 1413, 1335, 1252, 1083, 842, 653}

func main() { pack.Main(run) }

const name = "load.bin"

func run(data string) error {
	rows, err := pack.Table(filepath.Join(data, "residential_load_shape_8760.csv"))
	if err != nil {
		return err
	}
	var loads []solar.Load
	for _, city := range cities {
		load := solar.Load{City: city.name, Lat: city.lat, Lon: city.lon}
		shape, err := means(rows, city.column)
		if err != nil {
			return err
		}
		for i, v := range shape {
			month := &load.Share[i/24]
			for hour := range month {
				month[hour] += math.Round(v*1e7) / 1e7 / 24 * day[hour] / 1000
			}
		}
		loads = append(loads, load)
	}
	fmt.Printf("%s: %d cities\n", name, len(cities))
	return pack.Write(name, loads)
}

// means returns the means of the year by month and hour of the day.
func means(rows [][]string, column string) (shape [12 * 24]float64, err error) {
	index := slices.Index(rows[0], column)
	if index < 0 || len(rows) != 8761 {
		return shape, fmt.Errorf("%s: column %d of %d rows", column, index, len(rows))
	}
	var counts [12 * 24]int
	start := time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)
	for hour, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[index], 64)
		if err != nil {
			return shape, err
		}
		at := start.Add(time.Duration(hour) * time.Hour)
		i := (int(at.Month())-1)*24 + at.Hour()
		shape[i] += v
		counts[i]++
	}
	for i := range shape {
		shape[i] /= float64(counts[i])
	}
	return shape, nil
}
