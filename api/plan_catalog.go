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

// chooseTariff sets the plan's tariff from the chosen plan of the catalog. It also sets
// the identifier if the plan has none.
func chooseTariff(in *wire.CatalogChoice, plan *storage.RatePlan, p *rest.FieldErrors) {
	if in.CatalogID == "" {
		return
	}
	chosen, ok := catalog.ByID(in.CatalogID)
	p.Check(ok, "catalogId", "is not in the catalog: see the operation listCatalog")
	alone := len(plan.Tariff) == 0 && len(plan.Parts) == 0
	p.Check(alone, "catalogId", "cannot be combined with tariff or parts")
	if !ok || !alone {
		return
	}
	plan.Tariff, plan.ID = chosen.URDB, cmp.Or(plan.ID, chosen.ID)
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
	return rest.Show(page, func(p *catalog.Plan) catalog.Summary { return p.Summary }), nil
}
