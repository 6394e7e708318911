package carbon

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Region is a part of the grid with the same source for one more kWh: a region of EPA's
// AVERT. It is immutable.
type Region struct {
	Code string // such as "CA", "MIDA", "TE"
	rate [12][24]float64
	// off holds the deviations of single hours from their means, at even quantiles.
	off [quantiles]float64
}

const quantiles = 20

//go:embed emissions.txt
var emissionsText string

//go:embed counties.txt
var countiesText string

var regions = sync.OnceValue(func() map[string]*Region {
	all := map[string]*Region{}
	for line := range strings.Lines(emissionsText) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		r, err := parseRegion(words)
		if err != nil {
			panic(fmt.Sprintf("carbon: embedded emissions.txt: %v", err)) // the tests read every line
		}
		all[r.Code] = r
	}
	return all
})

func parseRegion(words []string) (*Region, error) {
	const steps = 1000
	if len(words) != 1+12*24+quantiles {
		return nil, fmt.Errorf("%s: %d words", words[0], len(words))
	}
	r := &Region{Code: words[0]}
	for i, word := range words[1:] {
		v, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		if i < 12*24 {
			r.rate[i/24][i%24] = float64(v) / steps
		} else {
			r.off[i-12*24] = float64(v) / steps
		}
	}
	return r, nil
}

// place is a county, or a whole state.
type place struct{ state, county string }

var places = sync.OnceValue(func() map[place]string {
	all := map[place]string{}
	for line := range strings.Lines(countiesText) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case len(fields) == 2:
			all[place{state: fields[0]}] = fields[1]
		case len(fields) == 3:
			all[place{fields[0], plain(fields[2])}] = fields[1]
		}
	}
	return all
})

// plain returns a county's name in lower case, without signs and words such as "County".
func plain(county string) string {
	county = strings.ToLower(county)
	for _, word := range []string{" county", " parish", " borough", " census area", " municipality"} {
		county = strings.TrimSuffix(county, word)
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ReplaceAll(county, "saint ", "st "))
}

// Named returns the region with a code.
func Named(code string) (*Region, bool) {
	r, ok := regions()[strings.ToUpper(strings.TrimSpace(code))]
	return r, ok
}

// Of returns the region of a county of a state (two letters). An unknown or empty county
// has the region of most counties of its state.
func Of(state, county string) (*Region, bool) {
	state = strings.ToUpper(strings.TrimSpace(state))
	code, ok := places()[place{state, plain(county)}]
	if !ok {
		code, ok = places()[place{state: state}]
	}
	if !ok {
		return nil, false
	}
	return Named(code)
}

// Rate returns the emissions of one more kWh in an hour (0 to 23) of the local day, in lb
// CO2. It is the mean of that hour over the month.
func (r *Region) Rate(month time.Month, hour int) float64 { return r.rate[month-1][hour] }

// Within returns the share of hours whose emissions differ from Rate by at most
// tolerance. tolerance is in lb CO2 a kWh. The share is rounded down to hundredths.
func (r *Region) Within(tolerance float64) float64 {
	share, before := 0.0, 0.0
	for _, off := range r.off {
		if tolerance < off {
			share += (tolerance - before) / (off - before)
			break
		}
		share, before = share+1, off
	}
	return math.Floor(100*share/quantiles) / 100
}
