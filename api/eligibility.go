package api

import (
	"context"
	"maps"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

type zipcodeInput struct {
	Zipcode string `json:"zipcode"`
}

func (in *zipcodeInput) check(_ *server, _ *call, p *problems) { checkZipcode(p, in.Zipcode) }

func checkZipcode(p *problems, zipcode string) {
	p.Check(storage.ValidZipcode(zipcode), "zipcode", "must be a US zipcode such as 60614")
}

func (s *server) checkEligibility(_ context.Context, c *call, in *zipcodeInput) (*answered[eligibility.Result], error) {
	if result, ok := s.areas.get(areaOf{c.org, in.Zipcode}, s.Store.Revision()); ok {
		return result, nil
	}
	return s.lookUpEligibility(c.org, in.Zipcode)
}

func (s *server) lookUpEligibility(org, zipcode string) (result *answered[eligibility.Result], err error) {
	err = s.Store.View(func(v storage.View) error {
		result, err = s.eligibility(v, org, zipcode)
		return err
	})
	return result, err
}

// eligibility checks a zipcode with the rate plans that an organization has at
// hand: those of the operator's choice, the shared ones and its own.
func (s *server) eligibility(v storage.View, org, zipcode string) (*answered[eligibility.Result], error) {
	return s.areas.of(areaOf{org, zipcode}, v.Revision(), func() (*answered[eligibility.Result], error) {
		checker, err := s.checker(v, org)
		if err != nil {
			return nil, err
		}
		return answerOf(checker.Check(zipcode))
	})
}

// areaOf is a zipcode that an organization asks about.
type areaOf struct{ org, zipcode string }

// checker knows what is published, what the operator imported, and which
// utilities an organization has rate plans of. It is made anew when anything that is
// stored has changed.
func (s *server) checker(v storage.View, org string) (*eligibility.Checker, error) {
	return s.checkers.of(org, v.Revision(), func() (*eligibility.Checker, error) { return s.newChecker(v, org) })
}

func (s *server) newChecker(v storage.View, org string) (*eligibility.Checker, error) {
	options := s.Eligibility
	options.Tariffs = maps.Clone(options.Tariffs)
	if options.Tariffs == nil {
		options.Tariffs = map[int]bool{}
	}
	for _, owner := range []string{storage.Shared, org} {
		err := s.plans.each(v, owner, func(eiaID int) { options.Tariffs[eiaID] = eiaID != 0 })
		if err != nil {
			return nil, err
		}
	}
	if err := s.facts.add(v, &options.Overrides); err != nil {
		return nil, err
	}
	return eligibility.New(options)
}

// eligible is the eligibility of a home by its zipcode.
func (s *server) eligible(v storage.View, org, zipcode string) (storage.EligibilityStatus, error) {
	result, err := s.eligibility(v, org, zipcode)
	if err != nil || !result.entity.Supported {
		return storage.NotEligible, err
	}
	return storage.Eligible, nil
}

// place gives a home what its zipcode tells and nobody said: its time zone and
// its city. What is known of zipcodes is known of the United States.
func place(h *storage.Home, c *eligibility.Checker) {
	area, known := c.Area(h.Zipcode)
	if !known || h.Country != "" && h.Country != "US" && h.Country != "USA" {
		return
	}
	if h.Timezone == "" {
		h.Timezone = area.Timezone
	}
	if h.City == "" {
		h.City = area.City
	}
}
