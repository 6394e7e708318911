// Gen writes the embedded emissions and regions of package carbon. It reads the tables in
// SOURCES.md from the directory data/carbon of GRIDHOOK_TESTDATA.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

func main() { pack.Main(run) }

const name = "data.bin"

func run(dir string) error {
	hours, err := pack.Table(filepath.Join(dir, "carbon", "avert_2023_co2_lb_per_kwh.csv"))
	if err != nil {
		return err
	}
	places, err := pack.Table(filepath.Join(dir, "carbon", "county_avert_region.csv"))
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

// emissions returns the region of a column, in steps of 0.001 lb CO2.
func emissions(rows [][]string, column int) (r carbon.Region, err error) {
	r.Code = rows[0][column]
	var hours [12 * 24][]float64 // by month and hour of the day
	for hour, row := range rows[1:] {
		month, err1 := strconv.Atoi(row[0])
		v, err2 := strconv.ParseFloat(row[column], 64)
		if err := errors.Join(err1, err2); err != nil {
			return r, err
		}
		i := (month-1)*24 + hour%24
		hours[i] = append(hours[i], v)
	}
	var deviations []float64 // of all hours from the mean of their month and hour of the day
	for i, values := range hours {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		mean := sum / float64(len(values))
		r.Means[i/24][i%24] = math.Round(1000*sum/float64(len(values))) / 1000
		for _, v := range values {
			deviations = append(deviations, math.Abs(v-mean))
		}
	}
	slices.Sort(deviations)
	for k := range r.Deviations {
		r.Deviations[k] = math.Round(1000*deviations[(k+1)*len(deviations)/len(r.Deviations)-1]) / 1000
	}
	return r, nil
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
