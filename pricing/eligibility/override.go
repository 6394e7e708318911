package eligibility

import (
	"cmp"
	"slices"
)

// Overrides finds the operator's corrections of the embedded facts. Package storage
// validates them. ok is false if there is none. An area is a zipcode, a prefix of three digits
// or, for Support only, a state's two letters. The most specific area wins.
type Overrides interface {
	// Utility returns a utility that is added, or replaces the embedded one.
	Utility(eiaID int) (u Utility, ok bool)
	// Programs returns a utility's demand-response programs.
	Programs(eiaID int) (names []string, ok bool)
	Territory(area string) (t Territory, ok bool)
	Support(area string) (s Support, ok bool)
}

// Territory replaces the embedded utilities of an area.
type Territory struct {
	Utilities []int  // EIA ids, the main one first
	Market    string // RTO or ISO; empty if there is none
	// Timezone and State are required only if the embedded facts lack the area.
	Timezone string
	State    string
}

// Support sets whether an area is supported, regardless of other facts.
type Support struct {
	Area      string // its key, for the reason of a result
	Supported bool
	Reason    string // shown to the caller; may be empty
}

// specific looks up areas in their order until one has an entry.
func specific[T any](find func(area string) (T, bool), areas ...string) (found T, ok bool) {
	for _, area := range areas {
		if found, ok = find(area); ok {
			break
		}
	}
	return found, ok
}

// override replaces an area's facts by the operator's facts. The area may be unknown (no
// time zone) before.
func (c *Checker) override(a *Area) {
	if c.Overrides == nil {
		return
	}
	if t, ok := specific(c.Overrides.Territory, a.Code, a.Code[:prefixDigits]); ok {
		a.Market, a.Utilities, a.overridden = t.Market, nil, true
		a.Timezone, a.State = cmp.Or(t.Timezone, a.Timezone), cmp.Or(t.State, a.State)
		for _, id := range t.Utilities {
			u := Utility{EIAID: id}
			if i := slices.IndexFunc(known().Utilities, func(u Utility) bool { return u.EIAID == id }); i >= 0 {
				u = known().Utilities[i]
			}
			u.Programs = programsIn(a.State, u.Programs)
			a.Utilities = append(a.Utilities, u)
		}
	}
	for i, u := range a.Utilities {
		if replaced, ok := c.Overrides.Utility(u.EIAID); ok {
			replaced.Share = u.Share
			a.Utilities[i], a.overridden = replaced, true
		}
		if names, ok := c.Overrides.Programs(u.EIAID); ok {
			a.Utilities[i].Programs, a.overridden = names, true
		}
	}
}
