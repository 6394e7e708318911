package wire

import (
	"encoding/json"

	"github.com/gridhook/gridhook/pricing"
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

// PlanEventList lists the events of a plan.
type PlanEventList struct {
	Data []storage.PlanEvent `json:"data"`
}

// MarketSeries is a series of market prices, without the prices.
type MarketSeries struct {
	OrganizationID string `json:"organizationId,omitempty" doc:"Absent if all organizations share the series." example:"acme"`
	storage.MarketSeries
}
