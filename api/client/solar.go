package client

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// Solar is what generates at a home.
type Solar struct {
	HomeID string `json:"homeId"`
	// SizeKw is the system's size in kW, above 0 and at most 1000.
	SizeKw float64 `json:"solarSystemSizeKw"`
	// NonNetMetered solar is never paid the retail rate.
	NonNetMetered bool `json:"isNonNetMetered,omitempty"`
	// IdempotencyKey makes a repeat return the first answer, for 24 h.
	IdempotencyKey string `json:"-"`
}

// CreateSolar registers the solar of a home, in the place of what was there, and
// returns the home.
func (c *Client) CreateSolar(ctx context.Context, s Solar) (storage.Home, error) {
	return call[storage.Home](ctx, c, "/v1/homes/solar/create", s, once(s.IdempotencyKey)...)
}
