package api

import (
	"cmp"
	"context"
	"strings"

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
	home.ID = cmp.Or(home.ID, storage.NewID("home_", c.Now))
	err := s.placeIn(&home, "")
	if err == nil {
		err = s.create(ctx, c, &home)
	}
	return showHome(&home), err
}

// maxHomesScanned limits the homes that a request for a page looks at. So a search for a
// rare text in many homes takes several requests.
const maxHomesScanned = 10_000

func (s *server) listHomes(ctx context.Context, c *rest.Call, in *wire.ListHomesInput) (wire.Page[wire.OwnedHome], error) {
	return s.pageOfHomes(ctx, c, in.OrganizationID, in.PageInput, in.HomesFilter)
}

func (s *server) listOwnHomes(ctx context.Context, c *rest.Call, in *wire.HomesInput) (wire.Page[wire.OwnedHome], error) {
	return s.pageOfHomes(ctx, c, c.Org, in.PageInput, in.HomesFilter)
}

func (s *server) pageOfHomes(ctx context.Context, c *rest.Call, org string, in wire.PageInput, filter wire.HomesFilter) (wire.Page[wire.OwnedHome], error) {
	page := wire.Page[wire.OwnedHome]{Data: []wire.OwnedHome{}}
	err := s.rest.Scan(ctx, c, func(v storage.View) error {
		last, scanned := "", 0
		return v.Scan(storage.KindHome, org, in.After, func(r storage.Record) bool {
			if len(page.Data) == in.Limit || scanned == maxHomesScanned {
				page.Next = &last
				return false
			}
			last, scanned = r.ID, scanned+1
			if r.Deleted {
				return true
			}
			home, err := storage.Decode[storage.Home](r)
			if err != nil {
				s.rest.LeftOut(err)
			} else if matches(&home, filter) {
				page.Data = append(page.Data, showHome(&home))
			}
			return true
		})
	})
	return page, err
}

// matches reports whether a filter selects a home.
func matches(h *storage.Home, filter wire.HomesFilter) bool {
	if filter.RatePlanID != "" && h.RatePlanID != filter.RatePlanID {
		return false
	}
	text := strings.Join([]string{h.ID, h.Name, h.UserID, h.Zipcode, h.City, h.StreetAddress}, "\n")
	return strings.Contains(strings.ToLower(text), strings.ToLower(filter.Search))
}

// getHome returns a method that shows a home of the organization that the request names or
// acts for.
func getHome[In any]() method[In, wire.HomeDetails] {
	return func(s *server, _ context.Context, c *rest.Call, in *In) (wire.HomeDetails, error) {
		return s.homeDetails(ownerOf(c, in), c.ID)
	}
}

func (s *server) homeDetails(org, id string) (shown wire.HomeDetails, err error) {
	err = s.Store.View(func(v storage.View) error {
		h, _, err := storage.Read[storage.Home](v, storage.KindHome.Ref(org, id))
		if err != nil {
			return err
		}
		measured, _, err := storage.Read[storage.MeasuredLoad](v, storage.KindMeasuredLoad.Ref(org, id))
		shown = wire.HomeDetails{OwnedHome: showHome(&h), MeasuredMonths: measured.Months}
		if err := storage.IgnoreNotFound(err); err != nil {
			return err
		}
		solar, _, err := storage.Read[storage.Solar](v, storage.KindSolar.Ref(org, id))
		if err == nil {
			shown.Solar = &wire.HomeSolar{SizeKw: solar.SizeKw, NonNetMetered: solar.NonNetMetered, SolarSettings: solar.SolarSettings}
		}
		return storage.IgnoreNotFound(err)
	})
	return shown, err
}

// updateHomeInput has the fields to change. An absent field keeps its value. A home without
// a time zone or city gets them from the zipcode.
type updateHomeInput struct {
	_ struct{} `required:"organizationId"`
	wire.OwnedHome
}

func (s *server) updateHome(ctx context.Context, c *rest.Call, in *updateHomeInput) (wire.OwnedHome, error) {
	changed, err := update(ctx, s, c, storage.KindHome.Ref(in.OrganizationID, c.ID), func(h *storage.Home, p *rest.FieldErrors) error {
		shown := over(s, c, showHome(h))
		p.Check(shown.ID == c.ID, "id", "cannot change: it is %q", c.ID)
		shown.Base = h.Base
		before := h.Zipcode
		*h = shown.Home
		err := s.placeIn(h, before)
		h.Timezone, h.City = cmp.Or(in.Timezone, h.Timezone), cmp.Or(in.City, h.City) // a value of the request takes precedence
		return err
	})
	return showHome(&changed), err
}
