package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

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
			area, _ := checker.Area(in.Zipcode)
			result.Result = checker.Check(in.Zipcode)
			result.NetMetering = regime.Of(area.State, area.MainUtility(), regime.Application{Date: pricing.DateOf(c.Now)})
		}
		return err
	})
	return result, err
}

// checkerCache caches an organization's checker while the store's revision is unchanged.
// Building a checker reads every rate plan that the organization can use.
type checkerCache struct {
	mu    sync.Mutex
	byOrg map[string]checkerAt
}

type checkerAt struct {
	revision uint64
	checker  *eligibility.Checker
}

// maxCheckers is the maximum number of cached checkers. A full cache is cleared.
const maxCheckers = 1024

// checker returns the organization's eligibility checker. The checker uses the published
// data, the operator's imports, and the utilities of the organization's and the shared
// rate plans.
func (s *server) checker(v storage.View, org string) (*eligibility.Checker, error) {
	s.checkers.mu.Lock()
	defer s.checkers.mu.Unlock()
	if cached, ok := s.checkers.byOrg[org]; ok && cached.revision == v.Revision() {
		return cached.checker, nil
	}
	checker, err := s.newChecker(v, org)
	if err != nil {
		return nil, err
	}
	if len(s.checkers.byOrg) >= maxCheckers {
		clear(s.checkers.byOrg)
	}
	s.checkers.byOrg[strings.Clone(org)] = checkerAt{v.Revision(), checker}
	return checker, nil
}

func (s *server) newChecker(v storage.View, org string) (*eligibility.Checker, error) {
	tariffs := maps.Clone(s.Tariffs)
	if tariffs == nil {
		tariffs = map[int]bool{}
	}
	for _, owner := range []string{storage.Shared, org} {
		for plan, err := range storage.Live(v, storage.KindRatePlan, owner, "") {
			if err != nil {
				return nil, err
			}
			eiaID := s.Pricer.EIAID(v, plan)
			tariffs[eiaID] = eiaID != 0
		}
	}
	facts, err := overrides(v)
	return &eligibility.Checker{Tariffs: tariffs, Overrides: facts}, err
}

// eligible returns the eligibility of a home in a zipcode.
func (s *server) eligible(v storage.View, org, zipcode string) (storage.EligibilityStatus, error) {
	checker, err := s.checker(v, org)
	if err != nil || !checker.Check(zipcode).Supported {
		return storage.NotEligible, err
	}
	return storage.Eligible, nil
}

// placer returns a function that sets a home's time zone and city from its zipcode if
// they are empty. Zipcodes are known for the United States only.
func (s *server) placer(v storage.View) (func(*storage.Home), error) {
	places, err := s.checker(v, storage.Shared)
	return func(h *storage.Home) {
		area, known := places.Area(h.Zipcode)
		if known && slices.Contains([]string{"", "US", "USA"}, h.Country) {
			h.Timezone, h.City = cmp.Or(h.Timezone, area.Timezone), cmp.Or(h.City, area.City)
		}
	}, err
}

// overrides returns the operator's imported facts about places and utilities.
func overrides(v storage.View) (eligibility.Overrides, error) {
	o := eligibility.Overrides{
		Utilities:   map[int]eligibility.Utility{},
		Territories: map[string]eligibility.Territory{},
		Programs:    map[int][]string{},
		Areas:       map[string]eligibility.Support{},
	}
	return o, errors.Join(
		eachShared(v, storage.KindUtility, func(u *storage.Utility) { o.Utilities[u.EIAID] = u.Facts() }),
		eachShared(v, storage.KindDemandResponse, func(d *storage.DemandResponse) { o.Programs[d.EIAID] = d.Programs }),
		eachShared(v, storage.KindArea, func(a *storage.Area) {
			if support, said := a.Support(); said {
				o.Areas[a.Code] = support
			}
			if territory, said := a.Territory(); said {
				o.Territories[a.Code] = territory
			}
		}))
}

// eachShared calls use with the operator's entities of a kind, except those that do not
// decode.
func eachShared[T any, P entity[T]](v storage.View, kind storage.Kind, use func(P)) error {
	for r, err := range storage.Live(v, kind, storage.Shared, "") {
		if err != nil {
			return err
		}
		if e, err := storage.Decode[T, P](r); err == nil {
			use(&e)
		}
	}
	return nil
}
