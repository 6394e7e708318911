package compile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// territories maps zipcodes to their utilities.
type territories struct {
	register *register
	own      map[string][]string // EIA ids of a zipcode's own rows
	county   map[string][]string // EIA ids of a county's delivering utilities, the main one first
	counties map[string]int      // number of counties of a utility
}

// served is a utility of a place, with its estimated share of the households.
type served struct {
	id      string
	percent int
}

func successor(id string) string {
	if newer, merged := successors[id]; merged {
		return newer
	}
	return id
}

func newTerritories(dir string, r *register) (*territories, error) {
	t := &territories{register: r, own: map[string][]string{}, county: map[string][]string{}}
	rows, err := table(dir, "geo/zip_utility.csv")
	if err != nil {
		return nil, err
	}
	for _, line := range rows {
		id := successor(line["eia_id"])
		if !slices.Contains(t.own[line["zip"]], id) {
			t.own[line["zip"]] = append(t.own[line["zip"]], id)
		}
	}
	return t, t.readCounties(dir)
}

// readCounties reads the utilities of each county. It keeps the source's order, largest
// first, except for utilities without sales. In Texas, the utilities that only deliver
// come first, sorted by their number of counties.
func (t *territories) readCounties(dir string) error {
	rows, err := table(dir, "county_utilities.csv")
	if err != nil {
		return err
	}
	t.counties = map[string]int{}
	for _, line := range rows {
		for id := range strings.FieldsSeq(line["eia_utility_ids"]) {
			t.counties[successor(id)]++
		}
	}
	rank := func(id string) int {
		if t.register.wiresOnly(id) {
			return -t.counties[id]
		}
		return 0
	}
	for _, line := range rows {
		var ids []string
		for id := range strings.FieldsSeq(line["eia_utility_ids"]) {
			if id = successor(id); t.register.delivers(id) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
		t.county[countyKey(line["state"], line["county"])] = ids
	}
	return nil
}

// serve returns the utilities of a place, the main utility first. It joins the look-up's
// rows of the zipcode with the county's utilities. It drops rows of utilities outside the
// county by the territories of 2018. A municipal utility without a row serves only its
// own town.
func (t *territories) serve(p place) ([]served, facts.Basis) {
	key := countyKey(p.state, p.county)
	own, county := slices.Clone(t.own[p.zip]), t.county[key]
	inCounty := func(id string) bool { return slices.Contains(county, id) }
	shared := slices.ContainsFunc(own, inCounty)
	if shared {
		own = slices.DeleteFunc(own, func(id string) bool { return !inCounty(id) && t.register.delivers(id) })
	}
	ids := slices.Clone(own)
	for _, id := range county {
		if !slices.Contains(own, id) && t.reaches(id, p) {
			ids = append(ids, id)
		}
	}
	switch {
	case len(ids) == 0 && len(county) == 0:
		return nil, facts.ByNone
	case len(ids) == 0:
		ids = county
	}
	basis := facts.ByBoth
	switch {
	case len(own) == 0:
		basis = facts.ByCounty
	case len(ids) == len(own):
		basis = facts.ByZipcode
	}
	return t.shares(ids, own, key), basis
}

// reaches reports whether a utility of the county may serve a place without a row of its
// own.
func (t *territories) reaches(id string, p place) bool {
	u := t.register.utilities[id]
	if u.Ownership == "Municipal" {
		return strings.Contains(strings.ToLower(u.Name), strings.ToLower(p.city))
	}
	return true
}

// The parameters of estimated shares.
const (
	ownRow   = 4.0  // weight of a row of the zipcode beside the county's list
	minShare = 0.03 // minimum share of a utility that only the county names
)

// shares estimates each utility's share of the households, sorted, greatest first. The
// weight of a utility is its sales of 2018 over the root of its number of counties. The
// root reflects that a utility of many counties is not much larger in each. A utility
// that only delivers has no sales. It has a share of nine tenths, unless a row names
// another utility of the county.
func (t *territories) shares(ids, own []string, county string) []served {
	weights, sum, wiresWeight, known := map[string]float64{}, 0.0, 0.0, false
	for _, id := range ids {
		w := (float64(t.register.sales[id]) + 1) / math.Sqrt(float64(max(1, t.counties[id])))
		switch {
		case slices.Contains(own, id) && slices.Contains(t.county[county], id):
			w *= ownRow
			known = true
		case slices.Contains(own, id) && len(t.county[county]) > 0:
			w /= ownRow // a seller, or a utility that the county's list lacks
		case principals[county] == id:
			w *= ownRow
		case principals[county] != "" && t.register.utilities[id].Ownership == "Investor Owned":
			w /= ownRow * ownRow
		}
		if t.register.wiresOnly(id) {
			w = 0.01
			if principals[county] == id {
				w = 1
			}
			wiresWeight += w
		}
		weights[id] = w
		sum += w
	}
	if wiresWeight > 0 && !known {
		for _, id := range ids {
			if t.register.wiresOnly(id) {
				weights[id] += 9 * sum * weights[id] / wiresWeight
			}
		}
		sum *= 10
	}
	var all []served
	for _, id := range ids {
		if share := weights[id] / sum; share >= minShare || slices.Contains(own, id) {
			all = append(all, served{id, int(math.Round(100 * share))})
		}
	}
	slices.SortStableFunc(all, func(a, b served) int { return cmp.Compare(weights[b.id], weights[a.id]) })
	return all
}
