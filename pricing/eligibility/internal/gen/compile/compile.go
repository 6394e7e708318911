package compile

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// Facts reads and joins the tables.
func Facts(files fs.FS) (*facts.Facts, error) {
	r, err := newRegister(files)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	places, err := readPlaces(files)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	t, err := newTerritories(files, r)
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
	f := j.facts()
	return f, Check(f)
}

// Check checks the order of the zipcodes and all indexes against their tables.
func Check(f *facts.Facts) error {
	for i, set := range f.Territories {
		if i >= len(f.Shares) || len(f.Shares[i]) != len(set) {
			return fmt.Errorf("compile: territory %d has no shares", i)
		}
		for _, u := range set {
			if !within(u, len(f.Utilities)) {
				return fmt.Errorf("compile: no utility %d", u)
			}
		}
	}
	if err := checkRows(f, f.Zips); err != nil {
		return err
	}
	return checkRows(f, f.Prefixes)
}

func checkRows(f *facts.Facts, rows []facts.Zip) error {
	previous := -1
	for i := range rows {
		z := &rows[i]
		if z.Code <= previous || !within(z.City, len(f.Cities)) || !within(z.County, len(f.Counties)) ||
			!within(z.Zone, len(f.Zones)) || !within(z.Territory, len(f.Territories)) ||
			!within(z.Market, len(f.Markets)) {
			return fmt.Errorf("compile: zipcode %05d is out of order or points outside a table", z.Code)
		}
		previous = z.Code
	}
	return nil
}

func within(i, n int) bool { return i >= 0 && i < n }

// join builds the tables during its pass through the zipcodes.
type join struct {
	register    *register
	territories *territories

	zones, cities, markets, utilities index[string]
	counties                          index[facts.County]
	sets                              index[string]
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
	numbers := make([]string, len(all))
	for i, s := range all {
		numbers[i] = fmt.Sprintf("%d:%d", j.utilities.of(s.id), s.percent)
	}
	return j.sets.of(strings.Join(numbers, " "))
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
	f := &facts.Facts{Zips: j.zips, Prefixes: j.prefixes}
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
	for _, numbers := range j.sets.values {
		set, shares := []int{}, []int{}
		for pair := range strings.FieldsSeq(numbers) {
			number, percent, _ := strings.Cut(pair, ":")
			u, _ := strconv.Atoi(number) // both were written from numbers above
			share, _ := strconv.Atoi(percent)
			set, shares = append(set, u), append(shares, share)
		}
		f.Territories, f.Shares = append(f.Territories, set), append(f.Shares, shares)
	}
	return f
}

func hundredths(degrees float64) int { return int(math.Round(degrees * 100)) }
