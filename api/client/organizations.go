package client

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// CreateOrganization makes an organization. Operator only.
func (c *Client) CreateOrganization(ctx context.Context, o NewOrganization) (storage.Organization, error) {
	return call[storage.Organization](ctx, c, "/v1/admin/organizations/create", o)
}

// NewOrganization is what an organization is made of.
type NewOrganization struct {
	// ID may be empty: the server makes one then.
	ID                   string   `json:"id,omitempty"`
	Name                 string   `json:"name"`
	ChildOrganizationIDs []string `json:"childOrganizationIds,omitempty"`
}

// Organizations lists organizations. Operator only.
func (c *Client) Organizations(ctx context.Context, p Page) (items []storage.Organization, next string, err error) {
	return list[storage.Organization](ctx, c, "/v1/admin/organizations/list", p)
}

// GetOrganization reads one organization. Operator only.
func (c *Client) GetOrganization(ctx context.Context, id string) (storage.Organization, error) {
	return call[storage.Organization](ctx, c, "/v1/admin/organizations/"+segment(id)+"/get", nothing)
}
