package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Devices lists the heating and cooling devices of a home, or all devices if homeID is
// empty.
func (c *Client) Devices(ctx context.Context, homeID string, p Page) (items []storage.HVACDevice, next string, err error) {
	return List[storage.HVACDevice](ctx, c, "/v1/devices/hvac/list", wire.DevicesInput{PageInput: p, HomeID: homeID})
}

// GetHVAC reads one heating and cooling device.
func (c *Client) GetHVAC(ctx context.Context, id string) (storage.HVACDevice, error) {
	return Call[storage.HVACDevice](ctx, c, at("/v1/devices/hvac/{id}/get", id), nothing)
}

// SetHVACLinked sets whether a device is linked to the user. Optimization skips an
// unlinked device.
func (c *Client) SetHVACLinked(ctx context.Context, id string, linked bool) (storage.HVACDevice, error) {
	return Call[storage.HVACDevice](ctx, c, at("/v1/devices/hvac/{id}/linked", id), wire.LinkedInput{Linked: linked})
}

// HVACPreferences reads the schedule of a device.
func (c *Client) HVACPreferences(ctx context.Context, id string) (storage.UserPreferences, error) {
	return Call[storage.UserPreferences](ctx, c, at("/v1/devices/hvac/{id}/user_preferences/get", id), nothing)
}
