package storage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gridhook/gridhook/pricing"
)

// minParts and maxParts bound the parts of a composed plan.
const (
	minParts = 2
	maxParts = 8
)

// checkParts names every wrong field of a composed plan.
func (r *RatePlan) checkParts(p *Problems) {
	r.Name = cmp.Or(r.Name, r.ID)
	p.Check(len(r.Tariff) == 0, "parts", "cannot be combined with a tariff")
	p.Check(len(r.Parts) >= minParts && len(r.Parts) <= maxParts, "parts", "must have %d to %d elements, not %d", minParts, maxParts, len(r.Parts))
	p.Check(slices.ContainsFunc(r.Parts, func(part pricing.PlanPart) bool { return part.Role == pricing.RoleDelivery }),
		"parts", "must have a part with the role %s", pricing.RoleDelivery)
	earlier := map[string]bool{}
	for i, part := range r.Parts {
		at := index("parts", i)
		CheckID(p, join(at, "planId"), part.PlanID)
		p.Check(part.PlanID != r.ID, join(at, "planId"), "must name another plan")
		p.Check(!earlier[part.PlanID], join(at, "planId"), "names the same plan as an earlier part")
		checkEnum(p, join(at, "role"), part.Role, pricing.PlanRoles()...)
		p.Check(part.Role != pricing.RoleAdjustment || i > 0, join(at, "role"), "cannot be %s in the first part: an adjustment applies to earlier parts", part.Role)
		p.Check(part.Role == pricing.RoleAdjustment || len(part.AppliesTo) == 0, join(at, "appliesTo"), "belongs to the role %s", pricing.RoleAdjustment)
		for j, id := range part.AppliesTo {
			p.Check(earlier[id], join(at, index("appliesTo", j)), "%q is no earlier part", id)
		}
		earlier[part.PlanID] = true
	}
}

// CheckComposed adds every part of a composed plan that does not exist for the plan's
// owner, or has parts itself. It also refuses parts for a plan that is itself a part.
func CheckComposed(p *Problems, v View, r *RatePlan) error {
	for i, part := range r.Parts {
		ref := KindRatePlan.Ref(r.OrganizationID, part.PlanID)
		if !ref.Valid() {
			continue // Check names it
		}
		record, err := FindShared(v, ref)
		if errors.Is(err, ErrNotFound) {
			p.Addf(join(index("parts", i), "planId"), "there is no plan %q of the same owner, and no shared one", part.PlanID)
			continue
		}
		if err != nil {
			return err
		}
		of, err := Decode[RatePlan](record)
		p.Check(err != nil || len(of.Parts) == 0, join(index("parts", i), "planId"), "%q has parts itself: a part needs a tariff", part.PlanID)
	}
	if len(r.Parts) > 0 {
		by, err := composedWith(v, r.Ref())
		if err != nil {
			return err
		}
		p.Check(by == nil, "parts", "cannot be set: the plan is a part of %s", by)
	}
	return nil
}

// PlanInUseError says that a plan is a part of another plan.
type PlanInUseError struct{ Plan, By Ref }

// Error names both plans.
func (e *PlanInUseError) Error() string {
	return fmt.Sprintf("plan %q is a part of plan %q", e.Plan.ID, e.By.ID)
}

// composedOf returns a composed plan with the given plan as a part, nil if there is none.
// The parts of an organization's plan are its own plans before shared plans.
func composedOf(v View, part Ref) (*Ref, error) {
	plans := Live(v, KindRatePlan, part.Org, "")
	if part.Org == Shared {
		plans = LiveEverywhere(v, KindRatePlan)
	}
	for record, err := range plans {
		if err != nil {
			return nil, err
		}
		if found, err := hasPart(v, record, record.Org, part); found || err != nil {
			return &record.Ref, err
		}
	}
	return nil, nil //nolint:nilnil // no plan is the usual answer
}

// composedWith returns a composed plan that would have the given plan as a part once it is
// stored, nil if there is none. An organization's plan hides a shared part.
func composedWith(v View, plan Ref) (*Ref, error) {
	if plan.Org == Shared {
		return composedOf(v, plan)
	}
	for record, err := range LiveOf(v, KindRatePlan, plan.Org, Shared) {
		if err != nil {
			return nil, err
		}
		of, err := Decode[RatePlan](record)
		if err == nil && of.names(plan.ID) {
			return &record.Ref, nil
		}
	}
	return nil, nil //nolint:nilnil // no plan is the usual answer
}

// names reports whether a plan has a part with the identifier.
func (r *RatePlan) names(id string) bool {
	return slices.ContainsFunc(r.Parts, func(p pricing.PlanPart) bool { return p.PlanID == id })
}

// UsesPlan reports whether a home on a plan of its organization, or else on the shared plan
// of that identifier, has the prices of another plan: it is that plan, or a part of it.
func UsesPlan(v View, home, plan Ref) (bool, error) {
	if !home.Valid() {
		return false, nil // a home without a plan
	}
	record, err := FindShared(v, home)
	if err != nil || record.Ref == plan {
		return err == nil, IgnoreNotFound(err)
	}
	return hasPart(v, record, home.Org, plan)
}

// hasPart reports whether a stored plan has a part for an organization, whose own plans hide
// shared parts. An undecodable plan has none: it has no price anyway.
func hasPart(v View, record Record, org string, part Ref) (bool, error) {
	plan, err := Decode[RatePlan](record)
	if err != nil || !plan.names(part.ID) {
		return false, nil //nolint:nilerr // see above
	}
	found, err := FindShared(v, KindRatePlan.Ref(org, part.ID))
	return err == nil && found.Org == part.Org, IgnoreNotFound(err)
}
