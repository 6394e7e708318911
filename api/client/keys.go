package client

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// Key is an API key of an organization.
type Key struct {
	ID             string          `json:"keyId"`
	OrganizationID string          `json:"organizationId"`
	Description    string          `json:"description"`
	Scopes         []storage.Scope `json:"scopes"`
	// Text is what the partner sends. It is there once, in the answer that
	// made it.
	Text      string       `json:"key,omitempty"`
	ExpiresAt storage.Time `json:"expiresAt"`
	RevokedAt storage.Time `json:"revokedAt"`
	// LastUsedAt is right to about a minute, and zero for a key that was not
	// used yet.
	LastUsedAt storage.Time `json:"lastUsedAt"`
	CreatedAt  storage.Time `json:"createdAt"`
	UpdatedAt  storage.Time `json:"updatedAt"`
}

// NewKey is what a key is made of.
type NewKey struct {
	OrganizationID string `json:"organizationId"`
	Description    string `json:"description,omitempty"`
	// Scopes are all when there are none.
	Scopes []storage.Scope `json:"scopes,omitempty"`
	// ExpiresAt is nil for a key that does not expire.
	ExpiresAt *storage.Time `json:"expiresAt,omitempty"`
}

// CreateKey makes an API key. Operator only.
func (c *Client) CreateKey(ctx context.Context, k NewKey) (Key, error) {
	return call[Key](ctx, c, "/v1/admin/keys/create", k)
}

// Keys lists an organization's keys. Operator only.
func (c *Client) Keys(ctx context.Context, organization string, p Page) (items []Key, next string, err error) {
	return list[Key](ctx, c, "/v1/admin/keys/list", ofOrganization{organization, p})
}

// RevokeKey ends a key at once. Operator only.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	return call[Key](ctx, c, "/v1/admin/keys/"+segment(id)+"/revoke", nothing)
}

// Rotation is how a key is replaced.
type Rotation struct {
	// OverlapSeconds is how long the old key goes on, nil for a day.
	OverlapSeconds *int `json:"overlapSeconds,omitempty"`
}

// RotateKey makes a new key in the place of one that goes on for a while.
// Operator only.
func (c *Client) RotateKey(ctx context.Context, id string, r Rotation) (Key, error) {
	return call[Key](ctx, c, "/v1/admin/keys/"+segment(id)+"/rotate", r)
}
