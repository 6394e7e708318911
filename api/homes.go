package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func showHome(h *storage.Home) wire.OwnedHome {
	return wire.OwnedHome{OrganizationID: h.OrganizationID, Home: *h}
}

// createHomeInput is a home to create. A missing identifier is generated. A missing time
// zone or city comes from the zipcode.
type createHomeInput struct {
	_ struct{} `required:"organizationId"`
	wire.OwnedHome
}

func (in *createHomeInput) setDefaults() { in.Home = storage.NewHome("") }

func (s *server) createHome(ctx context.Context, c *rest.Call, in *createHomeInput) (wire.OwnedHome, error) {
	home := in.Home
	home.Base = storage.Base{OrganizationID: in.OrganizationID}
	if home.ID == "" {
		home.ID = storage.NewID("home_", c.Now)
	}
	err := s.Store.View(func(v storage.View) error {
		place, err := s.placer(v)
		if err == nil {
			place(&home)
		}
		return err
	})
	if err == nil {
		err = s.create(ctx, c, &home)
	}
	return showHome(&home), err
}

func (s *server) listHomes(_ context.Context, _ *rest.Call, in *wire.ListHomesInput) (wire.Page[wire.OwnedHome], error) {
	list := []storage.Home{}
	err := s.Store.View(func(v storage.View) (err error) {
		if in.RatePlanID == "" {
			list, err = storage.ReadList[storage.Home](v, storage.KindHome, in.OrganizationID, in.After, in.Limit+1)
			return err
		}
		return scanHomesOn(v, in.OrganizationID, in.After, []string{in.RatePlanID}, func(h *storage.Home) bool {
			list = append(list, *h)
			return len(list) <= in.Limit
		})
	})
	page := rest.NewPage(list, in.Limit, func(h *storage.Home) string { return h.ID })
	return rest.Show(page, showHome), err
}

func (s *server) getHome(_ context.Context, c *rest.Call, in *wire.OrganizationIDInput) (shown wire.HomeDetails, err error) {
	err = s.Store.View(func(v storage.View) error {
		ref := storage.HomeRef(in.OrganizationID, c.ID)
		h, _, err := storage.Read[storage.Home](v, ref)
		if err != nil {
			return storage.NotFound(err, ref)
		}
		measured, _, err := storage.Read[storage.MeasuredLoad](v, storage.MeasuredLoadRef(in.OrganizationID, c.ID))
		shown = wire.HomeDetails{OwnedHome: showHome(&h), MeasuredMonths: measured.Months}
		return rest.Ignore(err, storage.ErrNotFound)
	})
	return shown, err
}

// updateHomeInput has the fields to change. An absent field keeps its value.
type updateHomeInput struct {
	_ struct{} `required:"organizationId"`
	wire.OwnedHome
}

func (s *server) updateHome(ctx context.Context, c *rest.Call, in *updateHomeInput) (wire.OwnedHome, error) {
	changed, err := update(ctx, s, c, storage.HomeRef(in.OrganizationID, c.ID), func(h *storage.Home, p *rest.FieldErrors) error {
		shown := showHome(h)
		wrong, _ := s.decode(c.Body, &shown, "body")
		p.Add(wrong)
		p.Check(shown.ID == c.ID, "id", "cannot change: it is %q", c.ID)
		shown.Base = h.Base
		*h = shown.Home
		return nil
	})
	return showHome(&changed), err
}

func (s *server) deleteHome(ctx context.Context, c *rest.Call, in *wire.OrganizationIDInput) (wire.Deleted, error) {
	return deleted(c, s.Store.DeleteHome(ctx, in.OrganizationID, c.ID))
}
