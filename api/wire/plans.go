package wire

import (
	"cmp"
	"encoding/json"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// Plan is a rate plan without its tariff.
type Plan struct {
	ID             string `json:"id" example:"plan_1"`
	OrganizationID string `json:"organizationId,omitempty" doc:"Absent if all organizations share the plan." example:"acme"`
	Name           string `json:"name" example:"Residential Time of Use"`
	Utility        string `json:"utility" example:"Acme Electric"`
	// Parts are the parts of a composed plan, which has no tariff.
	Parts     []pricing.PlanPart `json:"parts,omitempty" doc:"The parts of a composed plan. Absent if the plan has a tariff."`
	CreatedAt storage.Time       `json:"createdAt"`
	UpdatedAt storage.Time       `json:"updatedAt"`
}

// PlanWithTariff is a rate plan with its tariff.
type PlanWithTariff struct {
	Plan
	Tariff json.RawMessage `json:"tariff,omitempty" doc:"Absent if the plan has parts." example:"{\"energyratestructure\":[[{\"rate\":0.12,\"unit\":\"kWh\"}]]}"`
}

// MarketSeries is a series of market prices, without the prices.
type MarketSeries struct {
	OrganizationID string `json:"organizationId,omitempty" doc:"Absent if all organizations share the series." example:"acme"`
	storage.MarketSeries
}

// CatalogChoice names a plan of the catalog instead of a tariff.
type CatalogChoice struct {
	CatalogID string `json:"catalogId,omitempty" doc:"A plan of the catalog, as an alternative to tariff."`
}

// Choose sets the plan's tariff from the chosen plan of the catalog. It also sets the
// identifier if the plan has none.
func (c *CatalogChoice) Choose(plan *storage.RatePlan, p *storage.Problems) {
	if c.CatalogID == "" {
		return
	}
	chosen, ok := catalog.ByID(c.CatalogID)
	p.Check(ok, "catalogId", "is not in the catalog: see the operation listCatalog")
	alone := len(plan.Tariff) == 0 && len(plan.Parts) == 0
	p.Check(alone, "catalogId", "cannot be combined with tariff or parts")
	if !ok || !alone {
		return
	}
	plan.Tariff, plan.ID = chosen.URDB, cmp.Or(plan.ID, chosen.ID)
}
