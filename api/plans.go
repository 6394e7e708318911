package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func showPlan(r *storage.RatePlan) wire.Plan {
	p := wire.Plan{ID: r.ID, Name: r.Name, Utility: r.Utility, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	if r.OrganizationID != storage.Shared {
		p.OrganizationID = r.OrganizationID
	}
	return p
}

// importPlanInput is a tariff with the identifier that homes refer to.
type importPlanInput struct {
	wire.ImportPlanInput

	plan storage.RatePlan
}

func (in *importPlanInput) check(_ *server, _ *rest.Call, p *rest.FieldErrors) {
	in.plan = storage.RatePlan{ID: in.ID, Name: in.Name, Utility: in.Utility, Tariff: in.Tariff}
	in.plan.OrganizationID = in.Owner()
	chooseTariff(&in.CatalogChoice, &in.plan, p)
	_ = p.AddError(in.plan.Validate()) // Validate returns field errors only
}

func (s *server) importPlan(ctx context.Context, _ *rest.Call, in *importPlanInput) (wire.Plan, error) {
	err := s.replace(ctx, &in.plan)
	return showPlan(&in.plan), err
}

func (s *server) listPlans(_ context.Context, _ *rest.Call, in *wire.ListPlansInput) (wire.Page[wire.Plan], error) {
	list, err := storage.List[storage.RatePlan](s.Store, storage.KindRatePlan, in.Owner(), in.After, in.Limit+1)
	page := rest.NewPage(list, in.Limit, func(r *storage.RatePlan) string { return r.ID })
	return rest.Show(page, showPlan), err
}

func (s *server) getPlan(_ context.Context, c *rest.Call, in *wire.PlanOwner) (wire.PlanWithTariff, error) {
	r, err := storage.Get[storage.RatePlan](s.Store, storage.RatePlanRef(in.Owner(), c.ID))
	return wire.PlanWithTariff{Plan: showPlan(&r), Tariff: r.Tariff}, err
}

func (s *server) deletePlan(ctx context.Context, c *rest.Call, in *wire.PlanOwner) (wire.Deleted, error) {
	return wire.Deleted{ID: c.ID, Deleted: true}, s.Store.DeleteRatePlan(ctx, in.Owner(), c.ID)
}
