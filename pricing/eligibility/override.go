package eligibility

import "cmp"

// Overrides are the operator's corrections of the embedded facts. The zero value changes
// nothing. Package storage validates them. The key of an area is a zipcode, a prefix of
// three digits or, for Areas only, a state's two letters. The most specific area wins.
type Overrides struct {
	Utilities   map[int]Utility      // by EIA id; added, or replacing the embedded utility
	Territories map[string]Territory // by area
	Programs    map[int][]string     // demand-response programs, which replace those of the utility with the EIA id
	Areas       map[string]Support   // by area
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

// specific returns the value of a code, or else of the code's prefix.
func specific[T any](by map[string]T, code string) (T, bool) {
	if v, ok := by[code]; ok {
		return v, true
	}
	v, ok := by[code[:prefixDigits]]
	return v, ok
}

// support returns the operator's setting for an area.
func (o *Overrides) support(code, state string) (Support, bool) {
	if s, ok := specific(o.Areas, code); ok {
		return s, true
	}
	s, ok := o.Areas[state]
	return s, ok
}

// override replaces an area's facts by the operator's facts. The area may be unknown (no
// time zone) before.
func (c *Checker) override(a *Area) {
	if t, ok := specific(c.Overrides.Territories, a.Code); ok {
		a.Market, a.marketPrograms = t.Market, marketPrograms(t.Market)
		a.Utilities, a.overridden = nil, true
		a.Timezone, a.State = cmp.Or(t.Timezone, a.Timezone), cmp.Or(t.State, a.State)
		for _, id := range t.Utilities {
			u, found := c.utility(id)
			if !found {
				u = Utility{EIAID: id}
			}
			u.Programs = programsIn(a.State, u.Programs)
			a.Utilities = append(a.Utilities, u)
		}
	}
	for i, u := range a.Utilities {
		if replaced, ok := c.Overrides.Utilities[u.EIAID]; ok {
			a.Utilities[i], a.overridden = replaced, true
		}
		if names, ok := c.Overrides.Programs[u.EIAID]; ok {
			a.Utilities[i].Programs, a.overridden = names, true
		}
	}
}

// marketPrograms returns the embedded programs of a wholesale market.
func marketPrograms(name string) []string {
	for _, m := range known().Markets {
		if m.Name == name {
			return m.Programs
		}
	}
	return nil
}
