package compile

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// Facts reads the tables and joins them.
func Facts(files fs.FS) (*facts.Facts, error) {
	r, err := newRegister(files)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	places, err := readPlaces(files)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	t, err := newTerritories(files, r, places)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	j := join{register: r, territories: t}
	j.markets.of("")
	j.authorities.of("")
	for _, p := range places {
		if err := j.add(p); err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
	}
	return j.facts(), nil
}

// join collects the tables while it goes through the zipcodes.
type join struct {
	register    *register
	territories *territories

	zones, cities, markets, authorities, utilities index[string]
	counties                                       index[facts.County]
	sets                                           index[string]
	zips                                           []facts.Zip
}

func (j *join) add(p place) error {
	code, err := strconv.Atoi(p.zip)
	if err != nil {
		return fmt.Errorf("zipcode %q: %w", p.zip, err)
	}
	ids, basis := j.territories.serve(p)
	market, authority := j.market(ids, p.state)
	numbers := make([]string, len(ids))
	for i, id := range ids {
		numbers[i] = strconv.Itoa(j.utilities.of(id))
	}
	j.zips = append(j.zips, facts.Zip{
		Code: code, City: j.cities.of(p.city), County: j.counties.of(facts.County{State: p.state, Name: p.county}),
		Zone: j.zones.of(p.zone), Lat: hundredths(p.lat), Lon: hundredths(p.lon),
		Territory: j.sets.of(strings.Join(numbers, " ")),
		Market:    j.markets.of(market), Authority: j.authorities.of(authority), Basis: basis,
	})
	return nil
}

// market is that of the first utility of which it is known.
func (j *join) market(ids []string, state string) (market, authority string) {
	for _, id := range ids {
		if market, authority, known := j.register.market(id, state); known {
			return market, authority
		}
	}
	return "", ""
}

func (j *join) facts() *facts.Facts {
	f := &facts.Facts{Zips: j.zips}
	f.Zones, f.Cities, f.Authorities, f.Counties = j.zones.values, j.cities.values, j.authorities.values, j.counties.values
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
	for _, numbers := range j.sets.values {
		set := []int{}
		for n := range strings.FieldsSeq(numbers) {
			i, _ := strconv.Atoi(n) // it was written from a number above
			set = append(set, i)
		}
		f.Territories = append(f.Territories, set)
	}
	return f
}

func hundredths(degrees float64) int { return int(math.Round(degrees * 100)) }
