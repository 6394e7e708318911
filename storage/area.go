package storage

import "github.com/gridhook/gridhook/pricing/eligibility"

// Area is the operator's correction of the published facts about an area: whether it is
// supported, and which utilities serve it. The most specific area wins.
type Area struct {
	Code      string `json:"area" pattern:"area" doc:"A zipcode of five digits, a prefix of three, or a state's two letters." example:"606"`
	Supported *bool  `json:"supported" doc:"null if the published data decides." example:"true"`
	Reason    string `json:"reason" maxLength:"500" doc:"The reason that an eligibility check shows. It may be empty." example:"a pilot"`
	Utilities []int  `json:"utilities" maxItems:"100" itemsMinimum:"1" doc:"The EIA numbers of the utilities that serve a zipcode or a prefix, the main utility first. An empty list keeps the published utilities." example:"[4110]"`
	Market    string `json:"market" maxLength:"64" doc:"The RTO or ISO, or empty for none. Requires utilities." example:"PJM"`
	Timezone  string `json:"timezone" maxLength:"64" doc:"An IANA name, required for an area without published data. Requires utilities." example:"America/Chicago"`
	State     string `json:"state" pattern:"state" doc:"Two letters, required for an area without published data. Requires utilities." example:"IL"`
	Base
}

// NewArea returns an area without corrections.
func NewArea() Area {
	return Area{Utilities: []int{}, Base: Base{OrganizationID: Shared}}
}

// Ref names the area.
func (a *Area) Ref() Ref { return KindArea.Ref(Shared, a.Code) }

// Support returns whether the area is supported. said is false if the operator has not
// set it.
func (a *Area) Support() (s eligibility.Support, said bool) {
	if a.Supported == nil {
		return s, false
	}
	return eligibility.Support{Area: a.Code, Supported: *a.Supported, Reason: a.Reason}, true
}

// Territory returns the area's utilities, market, time zone and state. said is false if
// the operator has set none of them.
func (a *Area) Territory() (t eligibility.Territory, said bool) {
	t = eligibility.Territory{Utilities: a.Utilities, Market: a.Market, Timezone: a.Timezone, State: a.State}
	return t, len(a.Utilities) > 0 || a.Market != "" || a.Timezone != "" || a.State != ""
}

// Overrides returns the operator's corrections in a view, for eligibility checks inside the
// view. A record that does not decode corrects nothing.
func Overrides(v View) eligibility.Overrides { return overrides{v} }

type overrides struct{ view View }

func (o overrides) Utility(eiaID int) (eligibility.Utility, bool) {
	u, _, err := Read[Utility](o.view, utilityRef(KindUtility, eiaID))
	return u.Utility, err == nil
}

func (o overrides) Programs(eiaID int) ([]string, bool) {
	d, _, err := Read[DemandResponse](o.view, utilityRef(KindDemandResponse, eiaID))
	return d.Programs, err == nil
}

func (o overrides) Territory(area string) (t eligibility.Territory, ok bool) {
	a := o.area(area)
	return a.Territory()
}

func (o overrides) Support(area string) (s eligibility.Support, ok bool) {
	a := o.area(area)
	return a.Support()
}

// area returns the correction of an area, the zero Area if there is none that decodes.
func (o overrides) area(code string) Area {
	a, _, err := Read[Area](o.view, KindArea.Ref(Shared, code))
	if err != nil {
		return Area{}
	}
	return a
}

// Check adds every wrong field.
func (a *Area) Check(p *Problems) {
	_, supported := a.Support()
	_, served := a.Territory()
	p.Check(served || supported, "supported", "is required without utilities")
	p.Check(!served || len(a.Code) > len("IL"), "area", "must be a zipcode of five digits or a prefix of three with utilities")
	p.Check(!served || len(a.Utilities) > 0, "utilities", "must name at least one utility")
	if a.Timezone != "" {
		checkLocation(p, a.Timezone)
	}
}
