package api

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

// Plan is a rate plan as lists show it.
type Plan struct {
	ID string `json:"id"`
	// OrganizationID is absent for a plan that all organizations share.
	OrganizationID string       `json:"organizationId,omitempty"`
	Name           string       `json:"name"`
	Utility        string       `json:"utility"`
	CreatedAt      storage.Time `json:"createdAt"`
	UpdatedAt      storage.Time `json:"updatedAt"`
}

func showPlan(r *storage.RatePlan) Plan {
	p := Plan{ID: r.ID, Name: r.Name, Utility: r.Utility, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	if r.OrganizationID != storage.Shared {
		p.OrganizationID = r.OrganizationID
	}
	return p
}

// PlanWithTariff is a rate plan with its tariff.
type PlanWithTariff struct {
	Plan
	Tariff json.RawMessage `json:"tariff"`
}

// planOwner is an input that names an organization, or none for what all share.
type planOwner struct {
	OrganizationID string `json:"organizationId"`
}

func (in *planOwner) check(s *server, _ *call, p *problems) {
	if in.OrganizationID != "" {
		s.checkOrganization(p, in.OrganizationID)
	}
}

func (in *planOwner) owner() string {
	if in.OrganizationID == "" {
		return storage.Shared
	}
	return in.OrganizationID
}

// importPlanInput is a tariff and the identifier that homes name it by.
type importPlanInput struct {
	planOwner
	ID string `json:"id"`
	// Name and Utility are by default the tariff's own.
	Name    string `json:"name"`
	Utility string `json:"utility"`
	// Tariff is in the JSON of the US Utility Rate Database, bare or inside
	// items.
	Tariff json.RawMessage `json:"tariff"`
	catalogChoice

	plan storage.RatePlan
}

func (in *importPlanInput) check(s *server, c *call, p *problems) {
	in.planOwner.check(s, c, p)
	in.plan = storage.RatePlan{ID: in.ID, Name: in.Name, Utility: in.Utility, Tariff: in.Tariff}
	in.plan.OrganizationID = in.owner()
	in.choose(&in.plan, p)
	_ = p.addError(in.plan.Validate()) // nothing but field errors
}

func (s *server) importPlan(ctx context.Context, _ *call, in *importPlanInput) (Plan, error) {
	err := s.replace(ctx, &in.plan)
	return showPlan(&in.plan), err
}

type listPlansInput struct {
	planOwner
	pageInput
}

func (in *listPlansInput) check(s *server, c *call, p *problems) {
	in.planOwner.check(s, c, p)
	in.pageInput.check(s, c, p)
}

func (s *server) listPlans(_ context.Context, _ *call, in *listPlansInput) (Page[Plan], error) {
	list, err := storage.List[storage.RatePlan](s.Store, storage.KindRatePlan, in.owner(), in.After, in.Limit+1)
	page := newPage(list, in.Limit, func(r *storage.RatePlan) string { return r.ID })
	return show(page, showPlan), err
}

func (s *server) getPlan(_ context.Context, c *call, in *planOwner) (PlanWithTariff, error) {
	r, err := storage.Get[storage.RatePlan](s.Store, storage.RatePlanRef(in.owner(), c.id))
	return PlanWithTariff{showPlan(&r), r.Tariff}, err
}

// deletePlan deletes a plan after its events, so that a plan which takes the
// identifier later does not inherit them.
func (s *server) deletePlan(ctx context.Context, c *call, in *planOwner) (Deleted, error) {
	plan := storage.RatePlanRef(in.owner(), c.id)
	if _, err := storage.Get[storage.RatePlan](s.Store, plan); err != nil {
		return Deleted{}, err
	}
	if err := s.Store.Delete(ctx, storage.PlanEventsRef(plan.Org, plan.ID)); err != nil && !errors.Is(err, storage.ErrNotFound) {
		return Deleted{}, err
	}
	return Deleted{c.id, true}, s.Store.Delete(ctx, plan)
}
