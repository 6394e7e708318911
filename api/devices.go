package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// device reads a device. A deleted device counts as not found.
func (s *server) device(org, id string) (storage.HVACDevice, error) {
	d, err := storage.Get[storage.HVACDevice](s.Store, storage.KindHVACDevice.Ref(org, id))
	if err == nil && d.Deleted {
		err = &storage.NotFoundError{Ref: d.Ref()}
	}
	return d, err
}

func (s *server) listDevices(ctx context.Context, c *rest.Call, in *wire.DevicesInput) (wire.Page[storage.HVACDevice], error) {
	devices := []storage.HVACDevice{}
	err := s.rest.Scan(ctx, c, func(v storage.View) error {
		if in.HomeID != "" {
			if _, _, err := storage.Read[storage.Home](v, storage.KindHome.Ref(c.Org, in.HomeID)); err != nil {
				return err
			}
		}
		for d, err := range storage.DevicesOf(v, c.Org, in.HomeID, in.After) {
			if errors.As(err, new(*storage.DecodeError)) {
				s.rest.LeftOut(err)
				continue
			}
			if err != nil || len(devices) > in.Limit {
				return err
			}
			if !d.Deleted {
				devices = append(devices, d)
			}
		}
		return nil
	})
	return rest.NewPage(devices, in.Limit, func(d *storage.HVACDevice) string { return d.ID }), err
}

func (s *server) findHVAC(_ context.Context, c *rest.Call, _ *struct{}) (storage.HVACDevice, error) {
	return s.device(c.Org, c.ID)
}

func (s *server) setLinked(ctx context.Context, c *rest.Call, in *wire.LinkedInput) (storage.HVACDevice, error) {
	return storage.Update(ctx, s.Store, storage.KindHVACDevice.Ref(c.Org, c.ID), func(d *storage.HVACDevice) error {
		if d.Deleted {
			return &storage.NotFoundError{Ref: d.Ref()}
		}
		d.Linked = in.Linked
		return nil
	})
}

func (s *server) getUserPreferences(_ context.Context, c *rest.Call, _ *struct{}) (storage.UserPreferences, error) {
	if _, err := s.device(c.Org, c.ID); err != nil {
		return storage.UserPreferences{}, err
	}
	return storage.Get[storage.UserPreferences](s.Store, storage.KindUserPreferences.Ref(c.Org, c.ID))
}
