package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

// OwnedHome is a home with the organization that it belongs to.
type OwnedHome struct {
	OrganizationID string `json:"organizationId"`
	storage.Home
}

func showHome(h *storage.Home) OwnedHome {
	return OwnedHome{OrganizationID: h.OrganizationID, Home: *h}
}

// createHomeInput is a home. Without an identifier it gets one, and without a
// time zone or a city those of its zipcode.
type createHomeInput struct{ OwnedHome }

func (in *createHomeInput) setDefaults() { in.Home = storage.NewHome("") }

func (in *createHomeInput) check(s *server, c *call, p *problems) {
	s.checkOrganization(p, in.OrganizationID)
	if in.ID == "" {
		in.ID = storage.NewID("home_", c.now)
	}
	_ = s.Store.View(func(v storage.View) error { // what cannot be read now, the operation will say
		places, err := s.checker(v, storage.Shared)
		if err == nil {
			place(&in.Home, places)
		}
		return err
	})
	_ = p.addError(in.Validate()) // nothing but field errors
}

func (s *server) createHome(ctx context.Context, _ *call, in *createHomeInput) (OwnedHome, error) {
	in.Base = storage.Base{OrganizationID: in.OrganizationID}
	err := s.Store.Create(ctx, &in.Home)
	return showHome(&in.Home), err
}

// listHomesInput asks for a page of an organization's homes.
type listHomesInput struct {
	organizationPageInput
	// RatePlanID is the plan whose homes alone are wanted; by default all homes are.
	RatePlanID string `json:"ratePlanId,omitempty"`
}

func (in *listHomesInput) check(s *server, c *call, p *problems) {
	in.organizationPageInput.check(s, c, p)
	if in.RatePlanID != "" {
		checkID(p, "ratePlanId", in.RatePlanID)
	}
}

func (s *server) listHomes(_ context.Context, _ *call, in *listHomesInput) (Page[OwnedHome], error) {
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
	page := newPage(list, in.Limit, func(h *storage.Home) string { return h.ID })
	return show(page, showHome), err
}

func (s *server) getHome(_ context.Context, c *call, in *ofOrganization) (OwnedHome, error) {
	h, err := storage.Get[storage.Home](s.Store, storage.HomeRef(in.OrganizationID, c.id))
	return showHome(&h), err
}

// deleteHome deletes a home after what is stored under its identifier, so that
// a home which takes the identifier later does not inherit it.
func (s *server) deleteHome(ctx context.Context, c *call, in *ofOrganization) (Deleted, error) {
	home := storage.HomeRef(in.OrganizationID, c.id)
	if _, err := storage.Get[storage.Home](s.Store, home); err != nil {
		return Deleted{}, err
	}
	for _, ref := range []storage.Ref{
		storage.SolarRef(home.Org, home.ID), storage.UsageRef(home.Org, home.ID), storage.HomeMarketRef(home.Org, home.ID), storage.OnboardingRef(home.Org, home.ID),
	} {
		if err := s.Store.Delete(ctx, ref); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return Deleted{}, err
		}
	}
	return Deleted{c.id, true}, s.Store.Delete(ctx, home)
}
