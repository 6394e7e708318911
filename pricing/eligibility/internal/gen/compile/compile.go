package compile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// Facts reads and joins the tables.
func Facts(dir string) (*facts.Facts, error) {
	r, err := newRegister(dir)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	places, err := readPlaces(dir)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	t, err := newTerritories(dir, r)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	j := join{register: r, territories: t, served: map[int][]served{}}
	j.markets.of("")
	for _, p := range places {
		if err := j.add(p); err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
	}
	return j.facts(), nil
}

// join builds the tables during its pass through the zipcodes.
type join struct {
	register    *register
	territories *territories

	zones, cities, markets, utilities index[string]
	counties                          index[facts.County]
	sets                              index[string] // of utilities with their shares, as text
	utilitySets, shareSets            [][]int       // by index of sets
	zips, prefixes                    []facts.Zip
	served                            map[int][]served // by zipcode
}

func (j *join) add(p place) error {
	code, err := strconv.Atoi(p.zip)
	if err != nil {
		return fmt.Errorf("zipcode %q: %w", p.zip, err)
	}
	height := facts.UnknownHeight
	if !p.shared {
		if height, err = heightAt(p.lat, p.lon); err != nil {
			return fmt.Errorf("heights.gz: %w", err)
		}
	}
	served, basis := j.territories.serve(p)
	j.served[code] = served
	j.zips = append(j.zips, facts.Zip{
		Code: code, City: j.cities.of(p.city), County: j.counties.of(facts.County{State: p.state, Name: p.county}),
		Zone: j.zones.of(p.zone), Lat: hundredths(p.lat), Lon: hundredths(p.lon), Height: height,
		Territory: j.territory(served), Market: j.markets.of(j.market(served, p.state)), Basis: basis,
	})
	return nil
}

// territory returns the index of a set of utilities with their shares.
func (j *join) territory(all []served) int {
	set, shares := []int{}, []int{}
	for _, s := range all {
		set, shares = append(set, j.utilities.of(s.id)), append(shares, s.percent)
	}
	i := j.sets.of(fmt.Sprint(set, shares))
	if i == len(j.utilitySets) {
		j.utilitySets, j.shareSets = append(j.utilitySets, set), append(j.shareSets, shares)
	}
	return i
}

// market returns the market of the first utility with a known market.
func (j *join) market(served []served, state string) string {
	for _, s := range served {
		if market, known := j.register.market(s.id, state); known {
			return market
		}
	}
	return ""
}

func (j *join) facts() *facts.Facts {
	j.addPrefixes()
	f := &facts.Facts{Zips: j.zips, Prefixes: j.prefixes, Territories: j.utilitySets, Shares: j.shareSets}
	f.Zones, f.Cities, f.Counties = j.zones.values, j.cities.values, j.counties.values
	for _, name := range j.markets.values {
		f.Markets = append(f.Markets, facts.Market{Name: name, Programs: j.register.programs.ByMarket[name]})
	}
	for _, id := range j.utilities.values {
		u := j.register.utilities[id]
		if u.EIAID == 0 {
			u.EIAID, _ = strconv.Atoi(id) // a number without a name is still a fact
		}
		f.Utilities = append(f.Utilities, u)
	}
	return f
}

func hundredths(degrees float64) int { return int(math.Round(degrees * 100)) }
