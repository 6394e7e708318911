package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

func showPlan(r *storage.RatePlan) wire.Plan {
	return wire.Plan{
		ID: r.ID, OrganizationID: rest.UnlessShared(r.OrganizationID), Name: r.Name, Utility: r.Utility, Parts: r.Parts,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

func showPlanWithTariff(r *storage.RatePlan) wire.PlanWithTariff {
	return wire.PlanWithTariff{Plan: showPlan(r), Tariff: r.Tariff}
}

func showSeries(m *storage.MarketSeries) wire.MarketSeries {
	return wire.MarketSeries{OrganizationID: rest.UnlessShared(m.OrganizationID), MarketSeries: *m}
}

func (s *server) importPlan(ctx context.Context, c *rest.Call, in *wire.ImportPlanInput) (wire.Plan, error) {
	plan := storage.RatePlan{ID: in.ID, Name: in.Name, Utility: in.Utility, Tariff: in.Tariff, Parts: in.Parts}
	plan.OrganizationID = in.Owner()
	in.Choose(&plan, &c.Wrong)
	err := s.Store.View(func(v storage.View) error { return storage.CheckComposed(&c.Wrong, v, &plan) })
	plan.Check(&c.Wrong)
	if err = cmp.Or(err, c.Wrong.Err()); err == nil {
		err = s.Store.Replace(ctx, &plan)
	}
	return showPlan(&plan), err
}

func (s *server) listCatalog(_ context.Context, _ *rest.Call, in *wire.ListCatalogInput) (wire.Page[catalog.Summary], error) {
	found := catalog.Find(in.Utility, in.Search)
	if in.After != "" {
		i := slices.IndexFunc(found, func(p catalog.Plan) bool { return p.ID == in.After })
		if i < 0 {
			return wire.Page[catalog.Summary]{}, rest.Invalid("after", "is not in the list")
		}
		found = found[i+1:]
	}
	page := rest.NewPage(found[:min(len(found), in.Limit+1)], in.Limit, func(p *catalog.Plan) string { return p.ID })
	return rest.Show(page, func(p *catalog.Plan) (catalog.Summary, error) { return p.Summary, nil })
}
