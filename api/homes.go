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

func (in *createHomeInput) check(s *server, c *rest.Call, p *rest.FieldErrors) {
	s.checkOrganization(p, in.OrganizationID)
	if in.ID == "" {
		in.ID = storage.NewID("home_", c.Now)
	}
	_ = s.Store.View(func(v storage.View) error { // the operation reports a read error
		places, err := s.checker(v, storage.Shared)
		if err == nil {
			place(&in.Home, places)
		}
		return err
	})
	_ = p.AddError(in.Validate()) // Validate returns field errors only
}

func (s *server) createHome(ctx context.Context, _ *rest.Call, in *createHomeInput) (wire.OwnedHome, error) {
	in.Base = storage.Base{OrganizationID: in.OrganizationID}
	err := s.Store.Create(ctx, &in.Home)
	return showHome(&in.Home), err
}

func (s *server) listHomes(_ context.Context, _ *rest.Call, in *wire.ListHomesInput) (wire.Page[wire.OwnedHome], error) {
	list := []storage.Home{}
	err := s.Store.View(func(v storage.View) (err error) {
		if in.RatePlanID == "" {
			list, err = storage.ReadList[storage.Home](v, storage.KindHome, in.OrganizationID, in.After, in.Limit+1)
			return err
		}
		return eachHomeOn(v, in.OrganizationID, in.After, []string{in.RatePlanID}, func(h *storage.Home) bool {
			list = append(list, *h)
			return len(list) <= in.Limit
		})
	})
	page := rest.NewPage(list, in.Limit, func(h *storage.Home) string { return h.ID })
	return rest.Show(page, showHome), err
}

func (s *server) getHome(_ context.Context, c *rest.Call, in *wire.OfOrganization) (wire.OwnedHome, error) {
	h, err := storage.Get[storage.Home](s.Store, storage.HomeRef(in.OrganizationID, c.ID))
	return showHome(&h), err
}

func (s *server) deleteHome(ctx context.Context, c *rest.Call, in *wire.OfOrganization) (wire.Deleted, error) {
	return wire.Deleted{ID: c.ID, Deleted: true}, s.Store.DeleteHome(ctx, in.OrganizationID, c.ID)
}
