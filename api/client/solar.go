package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Solar describes the solar system of a home.
type Solar = wire.SolarInput

// CreateSolar registers the solar system of a home and returns the home. It replaces an
// earlier registration.
func (c *Client) CreateSolar(ctx context.Context, s Solar) (storage.Home, error) {
	return call[storage.Home](ctx, c, "/v1/homes/solar/create", s, idempotent(s.IdempotencyKey)...)
}
