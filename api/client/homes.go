package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Home is a home of an organization.
type Home = wire.OwnedHome

// HomeDetails is a home with the months of its measured load.
type HomeDetails = wire.HomeDetails

// NewHome has the fields of a new home. Only OrganizationID is required. A home without a
// rate plan has no prices.
type NewHome struct {
	OrganizationID string `json:"organizationId"`
	ID             string `json:"id,omitempty"`
	Name           string `json:"name,omitempty"`
	UserID         string `json:"userId,omitempty"`
	UtilityID      string `json:"UtilityId,omitempty"`
	RatePlanID     string `json:"ratePlanId,omitempty"`
	// Timezone is an IANA name such as America/Chicago.
	Timezone      string `json:"timezone,omitempty"`
	Country       string `json:"country,omitempty"`
	City          string `json:"city,omitempty"`
	Zipcode       string `json:"zipcode,omitempty"`
	StreetAddress string `json:"streetAddress,omitempty"`
	// CarbonSignalIntensity defaults to LOW.
	CarbonSignalIntensity storage.CarbonSignalIntensity `json:"carbonSignalIntensity,omitempty"`
}

// CreateHome creates a home. Operator only.
func (c *Client) CreateHome(ctx context.Context, h NewHome) (Home, error) {
	return call[Home](ctx, c, "/v1/admin/homes/create", h)
}

// Homes lists an organization's homes. Operator only.
func (c *Client) Homes(ctx context.Context, organization string, p Page) (items []Home, next string, err error) {
	return list[Home](ctx, c, "/v1/admin/homes/list", ofOrganization{organization, p})
}

// HomesOn lists an organization's homes on a rate plan. Operator only.
func (c *Client) HomesOn(ctx context.Context, organization, ratePlanID string, p Page) (items []Home, next string, err error) {
	return list[Home](ctx, c, "/v1/admin/homes/list", wire.ListHomesInput{
		OrganizationPageInput: wire.OrganizationPageInput{OrganizationIDInput: wire.OrganizationIDInput{OrganizationID: organization}, PageInput: p},
		HomesFilter:           wire.HomesFilter{RatePlanID: ratePlanID},
	})
}

// OwnHomes lists the homes of the client's organization that a filter selects.
func (c *Client) OwnHomes(ctx context.Context, filter wire.HomesFilter, p Page) (items []Home, next string, err error) {
	return list[Home](ctx, c, "/v1/homes/list", wire.HomesInput{PageInput: p, HomesFilter: filter})
}

// OwnHome reads one home of the client's organization.
func (c *Client) OwnHome(ctx context.Context, id string) (HomeDetails, error) {
	return call[HomeDetails](ctx, c, "/v1/homes/"+segment(id)+"/get", nothing)
}

// GetHome reads one home. Operator only.
func (c *Client) GetHome(ctx context.Context, organization, id string) (HomeDetails, error) {
	return call[HomeDetails](ctx, c, "/v1/admin/homes/"+segment(id)+"/get", ofOrganization{OrganizationID: organization})
}

// UpdateHome changes the fields of a home that have a value. Operator only.
func (c *Client) UpdateHome(ctx context.Context, id string, h NewHome) (Home, error) {
	return call[Home](ctx, c, "/v1/admin/homes/"+segment(id)+"/update", h)
}

// DeleteHome removes a home. Operator only.
func (c *Client) DeleteHome(ctx context.Context, organization, id string) error {
	_, err := call[struct{}](ctx, c, "/v1/admin/homes/"+segment(id)+"/delete", ofOrganization{OrganizationID: organization})
	return err
}
