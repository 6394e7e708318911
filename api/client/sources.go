package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
)

// Source is a scheduled fetch of prices, alerts or a tariff, with the log of its runs.
type Source = wire.SourceWithRuns

// NewSource has the fields of a new source. OrganizationID is empty for a source that all
// organizations share. A field without a value has its default.
type NewSource struct {
	OrganizationID string            `json:"organizationId,omitempty"`
	ID             string            `json:"id,omitempty"`
	Adapter        string            `json:"adapter"`
	URL            string            `json:"url,omitempty"`
	Parameters     map[string]string `json:"parameters,omitempty"`
	Secret         string            `json:"secret,omitempty"`
	EverySeconds   int               `json:"everySeconds,omitempty"`
	Timezone       string            `json:"timezone,omitempty"`
	PlanID         string            `json:"planId,omitempty"`
}

// CreateSource creates a source, which fetches at once. Operator only.
func (c *Client) CreateSource(ctx context.Context, s NewSource) (Source, error) {
	return Call[Source](ctx, c, "/v1/admin/sources/create", s)
}

// GetSource reads one source. Operator only.
func (c *Client) GetSource(ctx context.Context, organization, id string) (Source, error) {
	return Call[Source](ctx, c, at("/v1/admin/sources/{id}/get", id), ofOrganization{OrganizationID: organization})
}

// RunSource makes a source fetch now. Operator only.
func (c *Client) RunSource(ctx context.Context, organization, id string) error {
	_, err := Call[Source](ctx, c, at("/v1/admin/sources/{id}/run", id), ofOrganization{OrganizationID: organization})
	return err
}
