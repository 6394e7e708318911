package eligibility

import "cmp"

// Overrides are the operator's corrections of the embedded facts. The zero value changes
// nothing. Package storage validates them.
type Overrides struct {
	Utilities   []Utility   // added, or replacing the utility with the same EIA id
	Territories []Territory // the most specific area wins
	Programs    []Programs  // replace the programs of their utility
	Areas       []Support   // the most specific area wins
}

// Territory replaces the embedded utilities of an area.
type Territory struct {
	Area      string // a zipcode, or a prefix of three digits
	Utilities []int  // EIA ids, the main one first
	Market    string // RTO or ISO; empty if there is none
	// Timezone and State are required only if the embedded facts lack the area.
	Timezone string
	State    string
}

// Programs names the demand-response programs of a utility.
type Programs struct {
	EIAID int
	Names []string
}

// Support sets whether an area is supported, regardless of other facts.
type Support struct {
	Area      string // a zipcode, a prefix of three digits, or a state's two letters
	Supported bool
	Reason    string // shown to the caller; may be empty
}

// overrides is the indexed form of Overrides.
type overrides struct {
	utilities   map[int]Utility
	territories map[string]Territory
	programs    map[int][]string
	areas       map[string]Support
}

func newOverrides(o Overrides) overrides {
	x := overrides{map[int]Utility{}, map[string]Territory{}, map[int][]string{}, map[string]Support{}}
	for _, u := range o.Utilities {
		x.utilities[u.EIAID] = u
	}
	for _, t := range o.Territories {
		x.territories[t.Area] = t
	}
	for _, p := range o.Programs {
		x.programs[p.EIAID] = p.Names
	}
	for _, s := range o.Areas {
		x.areas[s.Area] = s
	}
	return x
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
func (x *overrides) support(code, state string) (Support, bool) {
	if s, ok := specific(x.areas, code); ok {
		return s, true
	}
	s, ok := x.areas[state]
	return s, ok
}

// apply replaces an area's facts by the operator's facts. The area may be unknown (no
// time zone) before.
func (x *overrides) apply(a *Area, utility func(eiaID int) (Utility, bool)) {
	if t, ok := specific(x.territories, a.Code); ok {
		a.Market, a.marketPrograms = t.Market, marketPrograms(t.Market)
		a.Utilities, a.overridden = nil, true
		for _, id := range t.Utilities {
			u, found := utility(id)
			if !found {
				u = Utility{EIAID: id}
			}
			a.Utilities = append(a.Utilities, u)
		}
		a.Timezone, a.State = cmp.Or(t.Timezone, a.Timezone), cmp.Or(t.State, a.State)
	}
	for i, u := range a.Utilities {
		if replaced, ok := x.utilities[u.EIAID]; ok {
			a.Utilities[i], a.overridden = replaced, true
		}
		if names, ok := x.programs[u.EIAID]; ok {
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
