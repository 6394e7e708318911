package eligibility

import (
	"cmp"
	"slices"
)

// Overrides finds the operator's corrections of the embedded facts. Package storage
// validates them. ok is false if there is none.
type Overrides interface {
	// Utility returns a utility that is added, or replaces the embedded one.
	Utility(eiaID int) (u Utility, ok bool)
	// Programs returns a utility's demand-response programs.
	Programs(eiaID int) (names []string, ok bool)
	// Area returns the correction of an area, zero if there is none.
	Area(code string) Correction
}

// Correction is the operator's correction of an area: whether it is supported regardless of
// other facts, and which utilities serve it instead of the embedded ones. The most specific area
// wins. The tags are for what the operator says of an area.
type Correction struct {
	Code      string `json:"area" pattern:"area" doc:"A zipcode of five digits, a prefix of three, or a state's two letters." example:"606"`
	Supported *bool  `json:"supported" doc:"null if the published data decides." example:"true"`
	Reason    string `json:"reason" maxLength:"500" doc:"The reason that an eligibility check shows. It may be empty." example:"a pilot"`
	Utilities []int  `json:"utilities" maxItems:"100" itemsMinimum:"1" doc:"The EIA numbers of the utilities that serve a zipcode or a prefix, the main utility first. An empty list keeps the published utilities." example:"[4110]"`
	Market    string `json:"market" maxLength:"64" doc:"The RTO or ISO, or empty for none. Requires utilities." example:"PJM"`
	Timezone  string `json:"timezone" maxLength:"64" doc:"An IANA name, required for an area without published data. Requires utilities." example:"America/Chicago"`
	State     string `json:"state" pattern:"state" doc:"Two letters, required for an area without published data. Requires utilities." example:"IL"`
}

// Decides reports whether the correction says that the area is supported or is not.
func (c *Correction) Decides() bool { return c.Supported != nil }

// Serves reports whether the correction replaces the area's utilities, market, time zone or
// state.
func (c *Correction) Serves() bool {
	return len(c.Utilities) > 0 || c.Market != "" || c.Timezone != "" || c.State != ""
}

// specific returns the correction of the first area for which says is true. It is nil if there
// is none.
func (c *Checker) specific(says func(*Correction) bool, areas ...string) *Correction {
	if c.Overrides == nil {
		return nil
	}
	for _, code := range areas {
		if found := c.Overrides.Area(code); says(&found) {
			return &found
		}
	}
	return nil
}

// override replaces an area's facts by the operator's facts. The area may be unknown (no
// time zone) before.
func (c *Checker) override(a *Area) {
	if c.Overrides == nil {
		return
	}
	if t := c.specific((*Correction).Serves, a.Code, a.Code[:prefixDigits]); t != nil {
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
