package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ByID returns the plan of All with an ID.
func ByID(id string) (Plan, bool) {
	i := slices.IndexFunc(All(), func(p Plan) bool { return p.ID == id })
	if i < 0 {
		return Plan{}, false
	}
	return All()[i], true
}

// Find returns plans by utility and by name. The plan's utility and name must contain
// every word of the query, in any order and case. The utility may also be an EIA number.
// An empty query matches every plan. Plans with exactly the given name come first. Plans
// from tariff sheets come before plans of the US catalog.
func Find(utility, name string) []Plan {
	var exact, others []Plan
	for _, p := range All() {
		switch {
		case !holds(fmt.Sprintf("%s %s %d", p.Utility, p.State, p.EIAID), utility) || !holds(p.Name+" "+p.ID, name):
		case strings.EqualFold(p.Name, strings.TrimSpace(name)):
			exact = append(exact, p)
		default:
			others = append(others, p)
		}
	}
	return append(exact, others...)
}

// holds reports whether text contains every word of a query.
func holds(text, query string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Place is the location of a utility's customers.
type Place struct{ State, Timezone string }

var placesByEIA = sync.OnceValue(func() map[int]Place {
	places := map[int]Place{}
	for _, p := range All() {
		if _, known := places[p.EIAID]; !known && p.Timezone != "" {
			places[p.EIAID] = Place{p.State, p.Timezone}
		}
	}
	delete(places, 0)
	return places
})

// PlaceOf returns the Place of the utility with an EIA number. ok is false if the
// catalog lacks the utility.
func PlaceOf(eiaID int) (p Place, ok bool) {
	p, ok = placesByEIA()[eiaID]
	return p, ok
}
