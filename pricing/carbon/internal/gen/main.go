// Gen writes the embedded emissions and regions of package carbon. It reads the tables in
// SOURCES.md from the directory data/carbon of GRIDHOOK_TESTDATA.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

func main() {
	if err := run(filepath.Join(os.Getenv("GRIDHOOK_TESTDATA"), "data", "carbon"), "data.bin"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir, name string) error {
	hours, err := read(dir, "avert_2023_co2_lb_per_kwh.csv")
	if err != nil {
		return err
	}
	places, err := read(dir, "county_avert_region.csv")
	if err != nil {
		return err
	}
	data := carbon.Data{Counties: counties(places)}
	for column := 2; column < len(hours[0]); column++ {
		region, err := emissions(hours, column)
		if err != nil {
			return err
		}
		data.Regions = append(data.Regions, region)
	}
	fmt.Printf("%s: %d regions, %d counties\n", name, len(data.Regions), len(data.Counties))
	return pack.Write(name, data)
}

func read(dir, name string) ([][]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the directory is the operator's own
	if err != nil {
		return nil, err
	}
	return csv.NewReader(bytes.NewReader(text)).ReadAll()
}

// emissions returns the region of a column, in steps of 0.001 lb CO2.
func emissions(rows [][]string, column int) (r carbon.Region, err error) {
	var sums [12 * 24]float64
	var counts [12 * 24]int
	for hour, row := range rows[1:] {
		month, err1 := strconv.Atoi(row[0])
		v, err2 := strconv.ParseFloat(row[column], 64)
		if err := errors.Join(err1, err2); err != nil {
			return r, err
		}
		i := (month-1)*24 + hour%24
		sums[i] += v
		counts[i]++
	}
	r.Code = rows[0][column]
	for i, sum := range sums {
		r.Means[i/24][i%24] = math.Round(1000*sum/float64(counts[i])) / 1000
	}
	deviations, err := deviate(rows, column, &sums, &counts)
	for k := range r.Deviations {
		if err == nil {
			r.Deviations[k] = math.Round(1000*deviations[(k+1)*len(deviations)/len(r.Deviations)-1]) / 1000
		}
	}
	return r, err
}

// deviate returns the sorted distances of all hours from the mean of their month and hour
// of the day.
func deviate(rows [][]string, column int, sums *[12 * 24]float64, counts *[12 * 24]int) ([]float64, error) {
	var all []float64
	for hour, row := range rows[1:] {
		month, err1 := strconv.Atoi(row[0])
		v, err2 := strconv.ParseFloat(row[column], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		i := (month-1)*24 + hour%24
		all = append(all, math.Abs(v-sums[i]/float64(counts[i])))
	}
	slices.Sort(all)
	return all, nil
}

// counties returns each state with the region of most of its counties, and the counties of
// its other regions.
func counties(rows [][]string) (list []carbon.County) {
	states := map[string]map[string][]string{} // state, region, counties
	for _, row := range rows[1:] {
		state, county, region := row[0], row[1], row[2]
		if states[state] == nil {
			states[state] = map[string][]string{}
		}
		states[state][region] = append(states[state][region], county)
	}
	for _, state := range slices.Sorted(maps.Keys(states)) {
		regions := slices.SortedFunc(maps.Keys(states[state]), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(states[state][b]), len(states[state][a])), cmp.Compare(a, b))
		})
		list = append(list, carbon.County{State: state, Region: regions[0]})
		for _, region := range regions[1:] {
			for _, county := range slices.Sorted(slices.Values(states[state][region])) {
				list = append(list, carbon.County{State: state, Region: region, Name: county})
			}
		}
	}
	return list
}
