package storage

import "github.com/gridhook/gridhook/pricing/eligibility"

// Area is the operator's correction of the published facts about an area.
type Area struct {
	eligibility.Correction
	Base
}

// NewArea returns an area without corrections.
func NewArea() Area {
	return Area{eligibility.Correction{Utilities: []int{}}, Base{OrganizationID: Shared}}
}

// Ref names the area.
func (a *Area) Ref() Ref { return KindArea.Ref(Shared, a.Code) }

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

func (o overrides) Area(code string) eligibility.Correction {
	a, _, err := Read[Area](o.view, KindArea.Ref(Shared, code))
	if err != nil {
		return eligibility.Correction{}
	}
	return a.Correction
}

// Check adds every wrong field.
func (a *Area) Check(p *Problems) {
	served := a.Serves()
	p.Check(served || a.Decides(), "supported", "is required without utilities")
	p.Check(!served || len(a.Code) > len("IL"), "area", "must be a zipcode of five digits or a prefix of three with utilities")
	p.Check(!served || len(a.Utilities) > 0, "utilities", "must name at least one utility")
	if a.Timezone != "" {
		checkLocation(p, a.Timezone)
	}
}
