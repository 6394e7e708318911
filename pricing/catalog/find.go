package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ByID returns the plan of All with an ID.
func ByID(id string) (Plan, bool) {
	i := slices.IndexFunc(All(), func(p Plan) bool { return p.ID == id })
	if i < 0 {
		return Plan{}, false
	}
	return All()[i], true
}

// Find returns plans by utility, and by a search in the utility, the name and the identifier.
// They must contain every word of the query, in any order and case. Punctuation does not
// count: PG&E finds pge. The utility may also be a state or an EIA number. An empty query
// matches every plan. Plans with exactly the given name come first. Plans from tariff sheets
// come before plans of the US catalog.
func Find(utility, search string) []Plan {
	var exact, others []Plan
	for _, p := range All() {
		of := fmt.Sprintf("%s %s %d", p.Utility, p.State, p.EIAID)
		switch {
		case !holds(of, utility) || !holds(of+" "+p.Name+" "+p.ID, search):
		case strings.EqualFold(p.Name, strings.TrimSpace(search)):
			exact = append(exact, p)
		default:
			others = append(others, p)
		}
	}
	return append(exact, others...)
}

// holds reports whether text contains every word of a query.
func holds(text, query string) bool {
	text = plain(text)
	for word := range strings.FieldsSeq(plain(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// plain returns a text in lower case without punctuation.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// Place is the location of a utility's customers.
type Place struct{ State, Timezone string }

// PlaceOf returns the Place of the utility with an EIA number. It is zero if the catalog lacks
// the utility.
func PlaceOf(eiaID int) Place {
	for i := range All() {
		if p := &All()[i]; p.EIAID == eiaID {
			return Place{p.State, p.Timezone}
		}
	}
	return Place{}
}
