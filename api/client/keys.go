package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
)

// Key is an API key of an organization. Only the response that creates the key contains
// its text.
type Key = wire.KeyWithText

// NewKey has the fields of a new key.
type NewKey = wire.CreateKeyInput

// CreateKey creates an API key. Operator only.
func (c *Client) CreateKey(ctx context.Context, k NewKey) (Key, error) {
	return Call[Key](ctx, c, "/v1/admin/keys/create", k)
}

// Keys lists an organization's keys. Operator only.
func (c *Client) Keys(ctx context.Context, organization string, p Page) (items []Key, next string, err error) {
	return List[Key](ctx, c, "/v1/admin/keys/list", ofOrganization{organization, p})
}

// RevokeKey revokes a key immediately. Operator only.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	return Call[Key](ctx, c, at("/v1/admin/keys/{id}/revoke", id), nothing)
}

// Rotation has the settings of a key's rotation.
type Rotation struct {
	// OverlapSeconds is how long the old key stays valid. The default is one day.
	OverlapSeconds *int `json:"overlapSeconds,omitempty"`
}

// RotateKey creates a replacement for a key. The old key stays valid during the overlap.
// Operator only.
func (c *Client) RotateKey(ctx context.Context, id string, r Rotation) (Key, error) {
	return Call[Key](ctx, c, at("/v1/admin/keys/{id}/rotate", id), r)
}

// ConsoleLinkRequest describes a console link.
type ConsoleLinkRequest = wire.ConsoleLinkInput

// ConsoleLink is a short-lived link to the console.
type ConsoleLink = wire.ConsoleLink

// CreateConsoleLink creates a short-lived link to the console.
func (c *Client) CreateConsoleLink(ctx context.Context, l ConsoleLinkRequest) (ConsoleLink, error) {
	return Call[ConsoleLink](ctx, c, "/v1/console/links/create", l)
}

// RevokeConsoleLink revokes a link by the identifier of its key.
func (c *Client) RevokeConsoleLink(ctx context.Context, id string) (Key, error) {
	return Call[Key](ctx, c, at("/v1/console/links/{id}/revoke", id), nothing)
}
