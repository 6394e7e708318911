package client

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/storage"
)

// Plan is a rate plan, with its tariff where one plan was asked for.
type Plan struct {
	ID string `json:"id"`
	// OrganizationID is empty for a plan that all organizations share.
	OrganizationID string          `json:"organizationId,omitempty"`
	Name           string          `json:"name"`
	Utility        string          `json:"utility"`
	Tariff         json.RawMessage `json:"tariff,omitempty"`
	CreatedAt      storage.Time    `json:"createdAt"`
	UpdatedAt      storage.Time    `json:"updatedAt"`
}

// NewPlan is a tariff and the identifier that homes shall name it by.
type NewPlan struct {
	ID string `json:"id"`
	// OrganizationID is empty for a plan that all organizations share.
	OrganizationID string `json:"organizationId,omitempty"`
	// Name and Utility are the tariff's own when empty.
	Name    string `json:"name,omitempty"`
	Utility string `json:"utility,omitempty"`
	// Tariff is the JSON of the US Utility Rate Database, bare or inside items.
	Tariff json.RawMessage `json:"tariff,omitempty"`
	// CatalogID is a plan of the catalogue, in the place of Tariff.
	CatalogID string `json:"catalogId,omitempty"`
}

// ImportPlan creates or replaces a rate plan. Operator only.
func (c *Client) ImportPlan(ctx context.Context, p NewPlan) (Plan, error) {
	return call[Plan](ctx, c, "/v1/admin/plans/import", p)
}

// Plans lists the plans of an organization, or those that all share. Operator
// only.
func (c *Client) Plans(ctx context.Context, organization string, p Page) (items []Plan, next string, err error) {
	return list[Plan](ctx, c, "/v1/admin/plans/list", ofOrganization{organization, p})
}

// GetPlan reads one plan. Operator only.
func (c *Client) GetPlan(ctx context.Context, organization, id string) (Plan, error) {
	return call[Plan](ctx, c, "/v1/admin/plans/"+segment(id)+"/get", ofOrganization{OrganizationID: organization})
}

// DeletePlan removes a plan. Operator only.
func (c *Client) DeletePlan(ctx context.Context, organization, id string) error {
	_, err := call[struct{}](ctx, c, "/v1/admin/plans/"+segment(id)+"/delete", ofOrganization{OrganizationID: organization})
	return err
}
