package api

import (
	"context"
	"slices"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/catalog"
)

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
