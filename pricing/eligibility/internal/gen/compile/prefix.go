package compile

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// addPrefixes adds what the zipcodes of each prefix share: the most frequent time zone,
// county's state and market, the middle, and the sum of the utilities' shares.
func (j *join) addPrefixes() {
	const zipsOfPrefix = 100
	for rest := j.zips; len(rest) > 0; {
		code := rest[0].Code / zipsOfPrefix
		n := slices.IndexFunc(rest, func(z facts.Zip) bool { return z.Code/zipsOfPrefix != code })
		if n < 0 {
			n = len(rest)
		}
		j.prefixes = append(j.prefixes, j.prefix(code, rest[:n]))
		rest = rest[n:]
	}
}

func (j *join) prefix(code int, zips []facts.Zip) facts.Zip {
	var lat, lon, height, heights float64
	for i := range zips {
		lat, lon = lat+float64(zips[i].Lat), lon+float64(zips[i].Lon)
		if zips[i].Height != facts.UnknownHeight {
			height, heights = height+float64(zips[i].Height), heights+1
		}
	}
	n := float64(len(zips))
	state := j.counties.values[mostFrequent(zips, func(z *facts.Zip) int { return z.County })].State
	p := facts.Zip{
		Code: code, City: j.cities.of(""), County: j.counties.of(facts.County{State: state}), Zone: mostFrequent(zips, func(z *facts.Zip) int { return z.Zone }),
		Lat: int(math.Round(lat / n)), Lon: int(math.Round(lon / n)), Height: facts.UnknownHeight,
		Territory: j.territory(j.serving(zips)), Market: mostFrequent(zips, func(z *facts.Zip) int { return z.Market }),
		Basis: zips[0].Basis, Zipcodes: len(zips),
	}
	if heights > 0 {
		p.Height = int(math.Round(height / heights))
	}
	return p
}

// serving returns the utilities of the zipcodes, sorted by households, greatest first.
func (j *join) serving(zips []facts.Zip) []served {
	var all []served
	shares := map[string]int{}
	for i := range zips {
		for _, s := range j.served[zips[i].Code] {
			if _, seen := shares[s.id]; !seen {
				all = append(all, served{id: s.id})
			}
			shares[s.id] += s.percent
		}
	}
	slices.SortStableFunc(all, func(a, b served) int { return cmp.Compare(shares[b.id], shares[a.id]) })
	for i, s := range all {
		all[i].percent = int(math.Round(float64(shares[s.id]) / float64(len(zips))))
	}
	return all
}

// mostFrequent returns the most frequent value of the zipcodes, the smallest on a tie.
func mostFrequent(zips []facts.Zip, value func(*facts.Zip) int) int {
	counts := map[int]int{}
	for i := range zips {
		counts[value(&zips[i])]++
	}
	best := value(&zips[0])
	for v, n := range counts {
		if n > counts[best] || n == counts[best] && v < best {
			best = v
		}
	}
	return best
}
