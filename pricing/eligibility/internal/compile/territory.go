package compile

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// territories says which utilities serve which zipcode.
type territories struct {
	register *register
	own      map[string][]string // EIA ids of a zipcode's own rows
	county   map[string][]string // EIA ids of a county that deliver, the main one first
	share    map[[2]string]int   // zipcodes of a county that name a utility
}

func newTerritories(files fs.FS, r *register, places []place) (*territories, error) {
	t := &territories{register: r, own: map[string][]string{}, county: map[string][]string{}, share: map[[2]string]int{}}
	rows, err := table(files, "geo/zip_utility.csv")
	if err != nil {
		return nil, err
	}
	for _, line := range rows {
		id := line["eia_id"]
		if newer, merged := successors[id]; merged {
			id = newer
		}
		if !slices.Contains(t.own[line["zip"]], id) {
			t.own[line["zip"]] = append(t.own[line["zip"]], id)
		}
	}
	for _, p := range places {
		for _, id := range t.own[p.zip] {
			t.share[[2]string{countyKey(p.state, p.county), id}]++
		}
	}
	return t, t.readCounties(files)
}

// readCounties keeps the source's order, largest first, but for utilities that
// sell nothing themselves: those of Texas that only deliver come first, the one
// of most counties ahead.
func (t *territories) readCounties(files fs.FS) error {
	rows, err := table(files, "county_utilities.csv")
	if err != nil {
		return err
	}
	counties := map[string]int{}
	for _, line := range rows {
		for id := range strings.FieldsSeq(line["eia_utility_ids"]) {
			counties[id]++
		}
	}
	rank := func(id string) int {
		if t.register.wiresOnly(id) {
			return -counties[id]
		}
		return 0
	}
	for _, line := range rows {
		ids := slices.DeleteFunc(strings.Fields(line["eia_utility_ids"]), func(id string) bool { return !t.register.delivers(id) })
		slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
		t.county[countyKey(line["state"], line["county"])] = ids
	}
	return nil
}

// serve gives the utilities of a place, the main one first: those of its own
// rows, the one of most zipcodes in the county ahead. The county's are taken
// where there are no rows, and put before them where the rows name none of the
// county's: then the look-up lacks the utility that delivers.
func (t *territories) serve(p place) ([]string, facts.Basis) {
	key := countyKey(p.state, p.county)
	own, county := slices.Clone(t.own[p.zip]), t.county[key]
	slices.SortStableFunc(own, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(t.share[[2]string{key, b}], t.share[[2]string{key, a}]),
			cmp.Compare(t.register.sales[b], t.register.sales[a]),
		)
	})
	shared := slices.ContainsFunc(own, func(id string) bool { return slices.Contains(county, id) })
	switch {
	case len(own) == 0 && len(county) == 0:
		return nil, facts.ByNone
	case len(own) == 0:
		return county, facts.ByCounty
	case !shared && len(county) > 0:
		return slices.Concat(county, own), facts.ByBoth
	default:
		return own, facts.ByZipcode
	}
}
