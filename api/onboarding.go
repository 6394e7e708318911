package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

// ofHome is an input that names a home.
type ofHome struct {
	HomeID string `json:"homeId"`
}

func (in *ofHome) check(_ *server, _ *call, p *problems) { checkID(p, "homeId", in.HomeID) }

// flow is the onboarding of a home. Of one that nothing was said about it is not
// started; stored says which it is.
func (s *server) flow(org, homeID string) (o *answered[storage.Onboarding], stored bool, err error) {
	err = s.Store.View(func(v storage.View) error {
		home, err := v.Get(storage.HomeRef(org, homeID))
		switch {
		case err != nil:
			return err
		case home.Deleted:
			return storage.ErrNotFound
		}
		ref := storage.OnboardingRef(org, homeID)
		var kept bool
		o, kept, err = s.flows.read(v, ref, answerFlow)
		if stored = err == nil; errors.Is(err, storage.ErrNotFound) {
			o, err = s.notStarted(v, home)
			kept = err == nil && len(home.Value) <= keptRecord
		}
		if kept {
			s.flows.seen.keep(cloned(ref), v.Revision(), o)
		}
		return err
	})
	return o, stored, err
}

// notStarted is the flow of a home that has none yet, as old as the home and
// under its identifier: a home has one.
func (s *server) notStarted(v storage.View, record storage.Record) (*answered[storage.Onboarding], error) {
	home, err := storage.Decode[storage.Home](record)
	if err != nil {
		return nil, err
	}
	status, err := s.eligible(v, home.OrganizationID, home.Zipcode)
	if err != nil {
		return nil, err
	}
	return answerOf(storage.Onboarding{
		ID: home.ID, HomeID: home.ID, Status: storage.OnboardingNotStarted, EligibilityStatus: status,
		Zipcode: home.Zipcode, Base: home.Base,
	})
}

func (s *server) getOnboarding(_ context.Context, c *call, in *ofHome) (*answered[storage.Onboarding], error) {
	if o, ok := s.flows.seen.get(storage.OnboardingRef(c.org, in.HomeID), s.Store.Revision()); ok {
		return o, nil
	}
	o, _, err := s.flow(c.org, in.HomeID)
	return o, err
}

// changeFlow changes the flow of a home, which is stored if it was not.
func (s *server) changeFlow(ctx context.Context, c *call, homeID string, change func(*storage.Onboarding) error) (storage.Onboarding, error) {
	found, stored, err := s.flow(c.org, homeID)
	if err != nil {
		return storage.Onboarding{}, err
	}
	if o := found.entity; !stored {
		if err := change(&o); err != nil {
			return o, err
		}
		if err := s.Store.Create(ctx, &o); !errors.Is(err, storage.ErrExists) {
			return o, err
		}
	}
	return storage.Update(ctx, s.Store, storage.OnboardingRef(c.org, homeID), change)
}

type startOnboardingInput struct {
	ofHome
	// Zipcode is by default the home's.
	Zipcode             string `json:"zipcode"`
	ThermostatBrandCode string `json:"thermostatBrandCode"`
}

func (in *startOnboardingInput) check(s *server, c *call, p *problems) {
	in.ofHome.check(s, c, p)
	if in.Zipcode != "" {
		checkZipcode(p, in.Zipcode)
	}
	p.Check(len(in.ThermostatBrandCode) <= 255, "thermostatBrandCode", "must have at most 255 characters")
}

func (s *server) startOnboarding(ctx context.Context, c *call, in *startOnboardingInput) (storage.Onboarding, error) {
	return s.changeFlow(ctx, c, in.HomeID, func(o *storage.Onboarding) error {
		if in.Zipcode != "" {
			o.Zipcode = in.Zipcode
		}
		if in.ThermostatBrandCode != "" {
			o.ThermostatBrandCode = in.ThermostatBrandCode
		}
		err := s.Store.View(func(v storage.View) (err error) {
			o.EligibilityStatus, err = s.eligible(v, c.org, o.Zipcode)
			return err
		})
		return errors.Join(err, o.Start())
	})
}

type completeStepInput struct {
	ofHome
	// Step is how many steps are completed now, by default one more.
	Step *int `json:"step"`
	// Completed marks the last step: the flow is COMPLETED then.
	Completed bool `json:"completed"`
}

// maxSteps bounds the steps of a flow.
const maxSteps = 1000

func (in *completeStepInput) check(s *server, c *call, p *problems) {
	in.ofHome.check(s, c, p)
	p.Check(in.Step == nil || *in.Step >= 0 && *in.Step <= maxSteps, "step", "must be from 0 to %d", maxSteps)
}

func (s *server) completeStep(ctx context.Context, c *call, in *completeStepInput) (storage.Onboarding, error) {
	return s.changeFlow(ctx, c, in.HomeID, func(o *storage.Onboarding) error {
		step := min(o.Step+1, maxSteps)
		if in.Step != nil {
			step = *in.Step
		}
		return o.CompleteStep(step, in.Completed)
	})
}

func (s *server) failOnboarding(ctx context.Context, c *call, in *ofHome) (storage.Onboarding, error) {
	return s.changeFlow(ctx, c, in.HomeID, (*storage.Onboarding).Fail)
}
