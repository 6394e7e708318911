// Gen writes the embedded load shapes of package solar. It reads the table in SOURCES.md
// from the directory data of GRIDHOOK_TESTDATA.
package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
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

// comment is the head of the file.
const comment = `# Load of a US home by month and hour of the local day, in 0.0000001 of the year's energy an hour: DOE commercial reference
# buildings (mid-rise apartment) through NREL/REopt.jl. A line is a city with its degrees north and east, and 12 x 24 numbers.
# See SOURCES.md. Written by go generate; do not edit.
`

func main() {
	if err := run(os.Getenv("GRIDHOOK_TESTDATA"), "load.txt"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir, name string) error {
	if dir == "" {
		return fmt.Errorf("set GRIDHOOK_TESTDATA to the directory that has data")
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "residential_load_shape_8760.csv")) //nolint:gosec // the directory is the operator's own
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString(comment)
	for _, city := range cities {
		fmt.Fprintf(&out, "%s\t%v\t%v\t", city.name, city.lat, city.lon)
		shape, err := means(rows, city.column)
		if err != nil {
			return err
		}
		for i, v := range shape {
			if i > 0 {
				out.WriteByte(' ')
			}
			fmt.Fprintf(&out, "%d", int(math.Round(v*1e7)))
		}
		out.WriteByte('\n')
	}
	fmt.Printf("%s: %d cities, %d bytes\n", name, len(cities), out.Len())
	return os.WriteFile(name, out.Bytes(), 0o600)
}

// means returns the means of the year by month and hour of the day.
func means(rows [][]string, column string) (shape [12 * 24]float64, err error) {
	index := -1
	for i, heading := range rows[0] {
		if heading == column {
			index = i
		}
	}
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
