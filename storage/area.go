package storage

import "github.com/gridhook/gridhook/pricing/eligibility"

// Area is what the operator knows better of an area than the published facts:
// whether it is supported, and who serves it. The most specific area counts.
type Area struct {
	// Code is a zipcode of five digits, a prefix of three, or a state's two
	// letters.
	Code string `json:"area"`
	// Supported is nil where that follows from what else is known.
	Supported *bool `json:"supported"`
	// Reason is shown to those who ask; it may be empty.
	Reason string `json:"reason"`
	// Utilities are the EIA numbers of those that serve a zipcode or a prefix,
	// the main one first; none leaves who is known to.
	Utilities []int `json:"utilities"`
	// Market, Timezone and State go with Utilities. Market is the RTO or ISO,
	// empty when in none. Timezone and State are needed where an area is not
	// known otherwise.
	Market   string `json:"market"`
	Timezone string `json:"timezone"`
	State    string `json:"state"`
	Base
}

// NewArea is an area of which nothing is said.
func NewArea() Area {
	return Area{Utilities: []int{}, Base: Base{OrganizationID: Shared}}
}

// AreaRef names an area of the operator's.
func AreaRef(area string) Ref { return Ref{KindArea, Shared, area} }

// Ref names the area.
func (a *Area) Ref() Ref { return AreaRef(a.Code) }

// Support is whether the area is supported, if that is said.
func (a *Area) Support() (s eligibility.Support, said bool) {
	if a.Supported == nil {
		return s, false
	}
	return eligibility.Support{Area: a.Code, Supported: *a.Supported, Reason: a.Reason}, true
}

// Territory is who serves the area, if that is said.
func (a *Area) Territory() (t eligibility.Territory, said bool) {
	t = eligibility.Territory{Area: a.Code, Utilities: a.Utilities, Market: a.Market, Timezone: a.Timezone, State: a.State}
	return t, len(a.Utilities) > 0 || a.Market != "" || a.Timezone != "" || a.State != ""
}

// Validate names every wrong field.
func (a *Area) Validate() error {
	var p Problems
	support, supported := a.Support()
	territory, served := a.Territory()
	switch {
	case served:
		checkOverrides(&p, eligibility.Overrides{Territories: []eligibility.Territory{territory}})
	default:
		support.Area = a.Code
		checkOverrides(&p, eligibility.Overrides{Areas: []eligibility.Support{support}})
		p.Check(supported, "supported", "must say whether the area is supported, or utilities who serves it")
	}
	checkText(&p, "reason", a.Reason, 0, 500)
	p.Check(len(a.Utilities) <= maxNames, "utilities", "must have at most %d numbers", maxNames)
	checkText(&p, "market", a.Market, 0, 64)
	if a.Timezone != "" {
		_, ok := Location(a.Timezone)
		p.Check(ok, "timezone", "must be an IANA time zone name such as America/Chicago")
	}
	return p.Err()
}
