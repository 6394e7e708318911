package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/regime"
	"github.com/gridhook/gridhook/storage"
)

func (s *server) checkEligibility(_ context.Context, c *rest.Call, in *wire.ZipcodeInput) (result wire.Eligibility, err error) {
	err = s.Store.View(func(v storage.View) error {
		checker, err := s.checker(v, c.Org)
		if err == nil {
			var area eligibility.Area
			result.Result, area = checker.Check(in.Zipcode)
			result.NetMetering = regime.Of(area.State, area.MainUtility(), regime.Application{Date: pricing.DateOf(c.Now)})
		}
		return err
	})
	return result, err
}

// checker returns the organization's eligibility checker, for use inside the view. The
// checker uses the published data, the operator's corrections, and the utilities of the
// organization's and the shared rate plans.
func (s *server) checker(v storage.View, org string) (*eligibility.Checker, error) {
	stored, err := s.Pricer.Utilities(v, org)
	has := func(eiaID int) bool { return s.Tariffs[eiaID] || stored[eiaID] }
	return &eligibility.Checker{HasTariffs: has, Overrides: storage.Overrides(v)}, err
}

// eligible returns the eligibility of a home in a zipcode.
func (s *server) eligible(v storage.View, org, zipcode string) (storage.EligibilityStatus, error) {
	checker, err := s.checker(v, org)
	if err != nil {
		return storage.NotEligible, err
	}
	if result, _ := checker.Check(zipcode); !result.Supported {
		return storage.NotEligible, nil
	}
	return storage.Eligible, nil
}

// place sets a home's time zone and city from its zipcode. It replaces only empty values and
// the values of the former zipcode. Zipcodes are known for the United States only.
func place(v storage.View, h *storage.Home, before string) {
	places := eligibility.Checker{Overrides: storage.Overrides(v)}
	area, known := places.Area(h.Zipcode)
	if !known || !eligibility.Covers(h.Country) {
		return
	}
	left, _ := places.Area(before)
	if h.Timezone == "" || h.Timezone == left.Timezone {
		h.Timezone = area.Timezone
	}
	if h.City == "" || h.City == left.City {
		h.City = area.City
	}
}

// placeIn is place in a view of its own.
func (s *server) placeIn(h *storage.Home, before string) error {
	return s.Store.View(func(v storage.View) error { place(v, h, before); return nil })
}
