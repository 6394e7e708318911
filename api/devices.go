package api

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// device reads a device. One that is deleted is as good as none.
func (s *server) device(org, id string) (*answered[storage.HVACDevice], error) {
	d, err := s.devices.of(s.Store, storage.HVACDeviceRef(org, id), answerDevice)
	if err == nil && d.entity.Deleted {
		err = storage.ErrNotFound
	}
	return d, err
}

func (s *server) findHVAC(_ context.Context, c *call, _ *struct{}) (*answered[storage.HVACDevice], error) {
	return s.device(c.org, c.id)
}

type linkedInput struct {
	// Linked says whether the device is linked to the user. One that is not is
	// left out of optimization.
	Linked *bool `json:"linked" null:"no"`
}

func (in *linkedInput) check(_ *server, _ *call, p *problems) {
	p.Check(in.Linked != nil, "linked", "is required")
}

func (s *server) setLinked(ctx context.Context, c *call, in *linkedInput) (storage.HVACDevice, error) {
	return storage.Update(ctx, s.Store, storage.HVACDeviceRef(c.org, c.id), func(d *storage.HVACDevice) error {
		if d.Deleted {
			return storage.ErrNotFound
		}
		d.Linked = *in.Linked
		return nil
	})
}

func (s *server) getUserPreferences(_ context.Context, c *call, _ *struct{}) (storage.UserPreferences, error) {
	if _, err := s.device(c.org, c.id); err != nil {
		return storage.UserPreferences{}, err
	}
	return storage.Get[storage.UserPreferences](s.Store, storage.UserPreferencesRef(c.org, c.id))
}
