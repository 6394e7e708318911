package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// createSolar stores the solar system of a home. It replaces an earlier registration.
func (s *server) createSolar(ctx context.Context, c *rest.Call, in *wire.SolarInput) (storage.Home, error) {
	solar := storage.Solar{HomeID: in.HomeID, SizeKw: in.SizeKw, NonNetMetered: in.NonNetMetered, SolarSettings: in.SolarSettings}
	solar.OrganizationID = c.Org
	err := s.Store.View(func(v storage.View) error { solar.CheckInput(&c.Wrong, v, c.Now); return nil })
	if err != nil {
		return storage.Home{}, err
	}
	if solar.Check(&c.Wrong); c.Wrong.Err() != nil {
		return storage.Home{}, c.Wrong.Err()
	}
	return rest.Idempotent(ctx, s.rest, c, "", in, func(string) (storage.Home, error) {
		home, err := storage.Get[storage.Home](s.Store, storage.KindHome.Ref(c.Org, in.HomeID))
		if err != nil {
			return home, err
		}
		return home, s.Store.Replace(ctx, &solar)
	})
}
