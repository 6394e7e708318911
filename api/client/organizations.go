package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// CreateOrganization creates an organization. Operator only.
func (c *Client) CreateOrganization(ctx context.Context, o NewOrganization) (storage.Organization, error) {
	return Call[storage.Organization](ctx, c, "/v1/admin/organizations/create", o)
}

// NewOrganization has the fields of a new organization.
type NewOrganization = wire.CreateOrganizationInput

// OrganizationFields are the fields of an organization to change. A nil field keeps its
// value.
type OrganizationFields = wire.UpdateOrganizationInput

// UpdateOrganization changes, suspends or resumes an organization. Operator only.
func (c *Client) UpdateOrganization(ctx context.Context, id string, f OrganizationFields) (storage.Organization, error) {
	return Call[storage.Organization](ctx, c, at("/v1/admin/organizations/{id}/update", id), f)
}

// Erased is the receipt of a deleted organization.
type Erased = wire.ErasedOrganization

// DeleteOrganization deletes an organization and erases its records. Call it again until
// Complete. Operator only.
func (c *Client) DeleteOrganization(ctx context.Context, id string) (Erased, error) {
	return Call[Erased](ctx, c, at("/v1/admin/organizations/{id}/delete", id), wire.DeleteOrganizationInput{Confirm: id})
}

// Organizations lists organizations. Operator only.
func (c *Client) Organizations(ctx context.Context, p Page) (items []storage.Organization, next string, err error) {
	return List[storage.Organization](ctx, c, "/v1/admin/organizations/list", p)
}

// GetOrganization reads one organization. Operator only.
func (c *Client) GetOrganization(ctx context.Context, id string) (storage.Organization, error) {
	return Call[storage.Organization](ctx, c, at("/v1/admin/organizations/{id}/get", id), nothing)
}
