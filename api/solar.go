package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

// solarInput is what generates at a home.
type solarInput struct {
	HomeID string `json:"homeId"`
	// SizeKw is the system's size in kW, above 0 and at most 1000.
	SizeKw float64 `json:"solarSystemSizeKw"`
	// NonNetMetered solar is never paid the retail rate. The default is false.
	NonNetMetered bool `json:"isNonNetMetered"`
	storage.SolarSettings
}

func (in *solarInput) solar(org string) *storage.Solar {
	return &storage.Solar{
		HomeID: in.HomeID, SizeKw: in.SizeKw, NonNetMetered: in.NonNetMetered, SolarSettings: in.SolarSettings,
		Base: storage.Base{OrganizationID: org},
	}
}

func (in *solarInput) check(_ *server, c *call, p *problems) {
	_ = p.addError(in.solar(c.org).Validate()) // nothing but field errors
}

// createSolar stores the solar of a home in the place of what was there.
func (s *server) createSolar(ctx context.Context, c *call, in *solarInput) (storage.Home, error) {
	home, err := storage.Get[storage.Home](s.Store, storage.HomeRef(c.org, in.HomeID))
	if err != nil {
		return home, err
	}
	return once(ctx, s, c, c.org, "", "", in, func(string) (storage.Home, error) {
		return home, s.replace(ctx, in.solar(c.org))
	})
}

// replace stores an entity in the place of what is there, whatever that is: where
// somebody else writes at the same time, the last one stays.
func (s *server) replace(ctx context.Context, e storage.Entity) error {
	const tries = 5
	var err error
	for range tries {
		if err = s.Store.Upsert(ctx, []storage.Entity{e})[0].Err; !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if err := s.Store.CatchUp(ctx); err != nil {
			return err
		}
	}
	return err
}
