package api

import (
	"context"
	"slices"

	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// catalogChoice names a plan of the catalogue in the place of a tariff.
type catalogChoice struct {
	// CatalogID is a plan of the catalogue, given in the place of the tariff.
	CatalogID string `json:"catalogId"`
}

// choose takes the tariff of the plan that is named, and its identifier where the
// plan has none.
func (in *catalogChoice) choose(plan *storage.RatePlan, p *problems) {
	if in.CatalogID == "" {
		return
	}
	chosen, ok := catalog.ByID(in.CatalogID)
	p.Check(ok, "catalogId", "is not in the catalogue: list it to see what is")
	p.Check(len(plan.Tariff) == 0, "catalogId", "cannot be given together with tariff")
	if !ok || len(plan.Tariff) > 0 {
		return
	}
	plan.Tariff = chosen.URDB()
	if plan.ID == "" {
		plan.ID = chosen.ID
	}
}

// CatalogPlan is a rate plan that the product brings.
type CatalogPlan struct {
	ID      string `json:"id"`
	Utility string `json:"utility"`
	// EIAID is the utility's number at the US Energy Information Administration.
	EIAID    int    `json:"eiaId"`
	State    string `json:"state"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
	// Source is where the rates were published.
	Source string `json:"source"`
	// Caveat says why the rates may not be right, and is empty where nothing does.
	Caveat string `json:"caveat"`
}

// listCatalogInput asks for plans of the catalogue.
type listCatalogInput struct {
	// Utility finds by words of the utility's name, its state, or its EIA number.
	Utility string `json:"utility"`
	// Search finds by words of the plan's name or identifier.
	Search string `json:"search"`
	pageInput
}

func (in *listCatalogInput) check(s *server, c *call, p *problems) {
	const most = 255
	p.Check(len(in.Utility) <= most, "utility", "must have at most %d characters", most)
	p.Check(len(in.Search) <= most, "search", "must have at most %d characters", most)
	in.pageInput.check(s, c, p)
}

func (s *server) listCatalog(_ context.Context, _ *call, in *listCatalogInput) (Page[CatalogPlan], error) {
	found := catalog.Find(in.Utility, in.Search)
	if in.After != "" {
		i := slices.IndexFunc(found, func(p catalog.Plan) bool { return p.ID == in.After })
		found = found[i+1:]
	}
	page := newPage(found[:min(len(found), in.Limit+1)], in.Limit, func(p *catalog.Plan) string { return p.ID })
	return show(page, func(p *catalog.Plan) CatalogPlan {
		return CatalogPlan{
			ID: p.ID, Utility: p.Utility, EIAID: p.EIAID, State: p.State, Name: p.Name, Timezone: p.Timezone, Source: p.Source, Caveat: p.Caveat,
		}
	}), nil
}
