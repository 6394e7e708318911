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
)

const comment = `# Marginal emissions by region, month and hour of the day, in 0.001 lb CO2 a kWh: means of the hours of EPA AVERT 2023, through
# NREL/REopt.jl. A line is a region and 12 x 24 numbers, and then 20: how far single hours are from these means, at the quantiles 0.05, 0.1 to 1.
# See SOURCES.md. Written by go generate; do not edit.
`

const countyComment = `# The AVERT region of each county: a state with the region of most of its counties, then the counties of another region.
# See SOURCES.md. Written by go generate; do not edit.
`

func main() {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	err := write(dir, "avert_2023_co2_lb_per_kwh.csv", "emissions.txt", emissions)
	if err == nil {
		err = write(dir, "county_avert_region.csv", "counties.txt", counties)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir, from, to string, pack func([][]string) ([]byte, error)) error {
	if dir == "" {
		return fmt.Errorf("set GRIDHOOK_TESTDATA to the directory that has data/carbon")
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "carbon", from)) //nolint:gosec // the directory is the operator's own
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	packed, err := pack(rows)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	fmt.Printf("%s: %d bytes\n", to, len(packed))
	return os.WriteFile(to, packed, 0o600)
}

func emissions(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(comment)
	for column := 2; column < len(rows[0]); column++ {
		var sums [12 * 24]float64
		var counts [12 * 24]int
		for hour, row := range rows[1:] {
			month, err1 := strconv.Atoi(row[0])
			v, err2 := strconv.ParseFloat(row[column], 64)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			i := (month-1)*24 + hour%24
			sums[i] += v
			counts[i]++
		}
		out.WriteString(rows[0][column])
		for i, sum := range sums {
			fmt.Fprintf(&out, " %d", int(math.Round(1000*sum/float64(counts[i]))))
		}
		deviations, err := deviate(rows, column, &sums, &counts)
		if err != nil {
			return nil, err
		}
		for k := 1; k <= 20; k++ {
			fmt.Fprintf(&out, " %d", int(math.Round(1000*deviations[k*len(deviations)/20-1])))
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
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

func counties(rows [][]string) ([]byte, error) {
	states := map[string]map[string][]string{} // state, region, counties
	for _, row := range rows[1:] {
		state, county, region := row[0], row[1], row[2]
		if states[state] == nil {
			states[state] = map[string][]string{}
		}
		states[state][region] = append(states[state][region], county)
	}
	var out bytes.Buffer
	out.WriteString(countyComment)
	for _, state := range slices.Sorted(maps.Keys(states)) {
		regions := slices.SortedFunc(maps.Keys(states[state]), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(states[state][b]), len(states[state][a])), cmp.Compare(a, b))
		})
		fmt.Fprintf(&out, "%s\t%s\n", state, regions[0])
		for _, region := range regions[1:] {
			for _, county := range slices.Sorted(slices.Values(states[state][region])) {
				fmt.Fprintf(&out, "%s\t%s\t%s\n", state, region, county)
			}
		}
	}
	return out.Bytes(), nil
}
